"""Find the best option by experiment without stepping over a safety limit, and know when you are certain."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from surefoot import errors, plots, policies, theory, worlds
    from surefoot.calibration.driver import calibrate
    from surefoot.comparing.comparison import Comparison
    from surefoot.comparing.driver import compare
    from surefoot.core.kernel import kernel
    from surefoot.live.certificate import Certificate
    from surefoot.live.pulls import Pull, Recommendation, Status
    from surefoot.live.session import Session
    from surefoot.live.trace import Trace
    from surefoot.planning.driver import plan
    from surefoot.policies import (
        EOptimal,
        LinGapE,
        RoundRobin,
        SafeGap,
        SafeLinGapE,
        Uniform,
        UniformRandom,
        UntilConfident,
    )
    from surefoot.problem import Arm, Dial, Limit, Problem, Reward
    from surefoot.results import Runs
    from surefoot.simulation import simulate
    from surefoot.studies.lifecycle import create_study, delete_study, import_study, load_study
    from surefoot.studies.listing import list_studies
    from surefoot.studies.signatures import SignedHead
    from surefoot.studies.study import Study
    from surefoot.sweeping.driver import Sweep, sweep

# Names are loaded when first used, so that `import surefoot` and `surefoot --help` cost nothing.
_HOME = {
    "errors": "", "plots": "", "policies": "", "theory": "", "worlds": "",
    "Certificate": "live.certificate",
    "EOptimal": "policies", "LinGapE": "policies", "RoundRobin": "policies", "SafeGap": "policies",
    "SafeLinGapE": "policies", "Uniform": "policies", "UniformRandom": "policies", "UntilConfident": "policies",
    "Arm": "problem", "Dial": "problem", "Limit": "problem", "Problem": "problem", "Reward": "problem",
    "Runs": "results",
    "Pull": "live.pulls", "Recommendation": "live.pulls", "Session": "live.session", "Status": "live.pulls",
    "Trace": "live.trace",
    "calibrate": "calibration.driver",
    "Comparison": "comparing.comparison", "compare": "comparing.driver",
    "kernel": "core.kernel",
    "plan": "planning.driver",
    "simulate": "simulation",
    "SignedHead": "studies.signatures", "Study": "studies.study",
    "create_study": "studies.lifecycle", "delete_study": "studies.lifecycle", "import_study": "studies.lifecycle",
    "list_studies": "studies.listing", "load_study": "studies.lifecycle",
    "Sweep": "sweeping.driver", "sweep": "sweeping.driver",
}  # fmt: skip

__all__ = [
    "Arm", "Certificate", "Comparison", "Dial", "EOptimal", "Limit", "LinGapE", "Problem", "Pull", "Recommendation",
    "Reward", "RoundRobin", "Runs", "SafeGap", "SafeLinGapE", "Session", "SignedHead", "Status", "Study", "Sweep",
    "Trace", "Uniform", "UniformRandom", "UntilConfident", "calibrate", "compare", "create_study", "delete_study",
    "errors", "import_study", "kernel", "list_studies", "load_study", "plan", "plots", "policies", "simulate",
    "sweep", "theory", "worlds",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    home = _HOME[name]
    found = import_module(f"surefoot.{home}" if home else f"surefoot.{name}")
    value = getattr(found, name) if home else found
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
