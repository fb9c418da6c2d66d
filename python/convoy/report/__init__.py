# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reports of an artifact's calls, plans and times: collected from an artifact or measured on a GPU,
and shown as text or as an HTML page."""

from __future__ import annotations

from convoy.report.collect import collect_report
from convoy.report.model import Report, read_report
from convoy.report.page import report_page
from convoy.report.text import plan_lines, report_lines

__all__ = ["Report", "collect_report", "plan_lines", "read_report", "report_lines", "report_page"]
