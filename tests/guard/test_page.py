"""The page on reliability names tests that exist."""

import re

import pytest
from guard.page import PAGE, PROMISES, ROOT


@pytest.mark.parametrize(("what", "file", "name"), PROMISES, ids=[p[1] for p in PROMISES])
def test_every_promise_has_its_test(what, file, name):
    assert re.search(rf"^def {name}", (ROOT / file).read_text(), re.MULTILINE)
    assert what in PAGE.read_text(encoding="utf-8")
