"""What an artifact runs and what it takes, as data: collected from an artifact and, on a GPU, by
measuring; shown as text or as a page."""

from __future__ import annotations

from convoy.report.collect import collect_report
from convoy.report.model import Report, read_report
from convoy.report.page import report_page
from convoy.report.text import plan_lines, report_lines

__all__ = ["Report", "collect_report", "plan_lines", "read_report", "report_lines", "report_page"]
