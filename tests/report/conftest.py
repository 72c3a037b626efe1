"""Findings and finished pages, each made once when first asked for."""

import matplotlib as mpl
import pytest
from report_cases import make_findings

from gradsift.report import build_report

mpl.use("Agg")


class Shelf(dict):
    """Things by kind, made when first asked for."""

    def __init__(self, make):
        self.make = make

    def __missing__(self, kind):
        self[kind] = self.make(kind)
        return self[kind]


@pytest.fixture(scope="session")
def findings():
    return Shelf(make_findings)


@pytest.fixture(scope="session")
def pages(findings):
    return Shelf(lambda kind: build_report(findings[kind]))
