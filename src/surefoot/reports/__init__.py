"""The report of a study, for those who decide: one page that needs nothing else."""

from surefoot.reports.writing import report_parts, write_report

__all__ = ["report_parts", "write_report"]
