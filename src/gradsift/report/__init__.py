"""One self-contained HTML page: what was asked, what was found, how sure, how to redo it."""

from gradsift.report._findings import Findings, versions
from gradsift.report._markdown import to_markdown
from gradsift.report._render import build_report, check_report_packages, write_report
from gradsift.report._score_words import ScoredWay, predictor_name, score_table
from gradsift.report._summarise import summarise

__all__ = [
    "Findings",
    "ScoredWay",
    "build_report",
    "check_report_packages",
    "predictor_name",
    "score_table",
    "summarise",
    "to_markdown",
    "versions",
    "write_report",
]
