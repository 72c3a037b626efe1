"""The report as Markdown: the same sentences, and names that stay data."""

import numpy as np

from gradsift import GradientSiftRegressor
from gradsift.report import Findings, summarise, to_markdown


def findings(names):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=100)
    model = GradientSiftRegressor(inference=True).fit(X, y)
    return Findings(model, X, y, names=names, target="yield", command="gradsift select t.csv")


def test_it_says_what_the_report_says():
    found = findings(["age", "dose", "c", "d", "e"])
    text = to_markdown(found)
    assert text.startswith(f"# {summarise(found)['headline']}\n")
    for part in ("## Findings", "| 1 | ", "## How sure", "    gradsift select t.csv"):
        assert part in text


def test_names_are_no_markup():
    text = to_markdown(findings(["a|b", "<img src=x>", "[c](http://d)", "*d*", "e\n# f"]))
    assert r"a\|b" in text
    assert "<img" not in text
    assert "\n# f" not in text
