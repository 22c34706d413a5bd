"""Calibration: what pilot trials at known-safe levels say about the statements of a problem."""

from surefoot.calibration.driver import calibrate
from surefoot.calibration.findings import Calibration, Signal

__all__ = ["Calibration", "Signal", "calibrate"]
