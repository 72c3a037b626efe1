"""Comparisons of two versions refuse a folder that holds none."""

from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from checkout import checkout


def test_a_checkout_has_the_package(tmp_path):
    here = Path(__file__).parents[1]
    assert checkout(str(here)) == here
    with pytest.raises(ArgumentTypeError, match="no checkout of gradsift"):
        checkout(str(tmp_path))
