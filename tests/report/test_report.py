"""The page without a browser: valid, self-contained, true."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace

import html5lib
import numpy as np
import pytest
from report_cases import KINDS, NASTY

from gradsift import GradientSiftRegressor, SiftOptions
from gradsift.evaluate import Scores
from gradsift.report import Findings, build_report, summarise, write_report
from gradsift.report._categories import importance_together
from gradsift.report._render import script_safe
from gradsift.tables import BEWARE


@pytest.mark.parametrize("kind", [*KINDS, "nasty"])
def test_the_page_is_valid_html(kind, pages):
    html5lib.HTMLParser(strict=True).parse(pages[kind])
    ids = re.findall(r'\bid="([^"]+)"', pages[kind])
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', pages[kind]):
        assert "".join(reference) in ids


@pytest.mark.skipif(shutil.which("tidy") is None, reason="tidy is not installed")
@pytest.mark.parametrize("kind", ["regressor", "nothing", "nasty"])
def test_tidy_finds_no_error(kind, pages, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(pages[kind], encoding="utf-8")
    # tidy 5 knows HTML5 but not every attribute: errors count, warnings do not
    found = subprocess.run(["tidy", "-q", "-e", str(page)], capture_output=True, text=True)
    assert found.returncode < 2, found.stderr


@pytest.mark.parametrize("kind", [*KINDS, "nasty"])
def test_the_page_needs_nothing_else(kind, pages):
    tree = html5lib.parse(pages[kind], namespaceHTMLElements=False)
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        tag = element.tag.split("}")[-1]
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        for key, value in element.attrib.items():
            name = key if isinstance(key, str) else key[-1]
            assert not name.startswith("on")
            if name.split("}")[-1] in {"src", "href"}:
                assert value.startswith(("#", "data:image/png;base64,"))
    assert len(pages[kind].encode()) < 5_000_000
    assert "@import" not in pages[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_every_section_is_there(kind, pages, findings):
    tree = html5lib.parse(pages[kind], namespaceHTMLElements=False)
    text = " ".join("".join(tree.itertext()).split())
    heading = "The selected variables" if summarise(findings[kind])["findings"] else "The variables"
    for part in (heading, "How sure", "What to beware of", "How to redo it"):
        assert part in text
    for part in ("gradsift select yields.csv --target yield", "sha256:abc123", "scikit-learn"):
        assert part in text
    selected = findings[kind].model.get_support().sum()
    rows = tree.findall(".//table[@id='table']/tbody/tr[@data-rank]")
    assert len(rows) == selected
    assert (len(tree.findall(".//figure")) > 0) == (selected > 0)


def test_what_was_found_is_what_is_said(findings):
    summary = summarise(findings["regressor"])
    assert summary["headline"] == "4 of 30 variables explain yield"
    assert len(summary["found"]) == 3
    assert "held-out rows (3 folds" in summary["found"][2]
    rows = {row["name"]: row for row in summary["variables"]}
    assert rows["gene 0"]["effect"] == "increasing, straight"
    assert rows["gene 0"]["stand_ins"][0][0] == "gene 9"
    assert rows["gene 1"]["shape"] == "U-shaped"
    assert rows["gene 2"]["partners"] == ["gene 3"]
    assert any(title == "gene 0 has 1 near-copy" for title, _ in summary["beware"])
    assert [name for _, name in summary["others"]][:1] != []
    assert len(summary["others"]) == 26
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_labels_are_spoken_of_as_classes(findings):
    two, three = summarise(findings["two"]), summarise(findings["three"])
    assert "tell apart the classes of yield" in two["headline"]
    assert "the selected variables alone give the right class" in two["found"][2]
    assert "the 3 classes of yield (high, low and mid)" in three["asked"]
    assert "no held-out rows were scored" in three["found"][2]
    assert three["variables"][0]["output"] in {"low", "mid", "high"}


def test_nothing_selected_says_why(findings):
    summary = summarise(findings["nothing"])
    assert summary["predicts_with"] == "no variable, as none was selected"
    assert summarise(findings["regressor"])["predicts_with"] == "the selected variables alone"
    assert summary["headline"] == "Nothing stands out among 30 variables"
    assert "1e-09 false variables" in summary["found"][0]
    best = findings["nothing"].names[int(np.argmin(findings["nothing"].model.ranking_))]
    assert best in summary["found"][1]
    assert "40 rows are too few" in summary["found"][2]
    assert summary["beware"][0][0] == "Few rows"


def test_nothing_selected_by_the_penalty(findings):
    old = findings["sparse"]
    with pytest.warns(UserWarning, match="no variable was selected"):
        model = type(old.model)(alpha=1e9).fit(old.X, old.y)
    found = summarise(replace(old, model=model))["found"]
    assert "alpha 1e+09" in found[0]
    assert "smaller alpha" in found[2]


def test_certificate_and_penalty(findings):
    sure = dict(summarise(findings["cv"])["sure"])
    model = findings["cv"].model
    assert f"{model.dual_gap_:.1e}" in sure["Certificate"]
    assert f"alpha {model.alpha_:.3g} out of 12" in sure["Choice of the penalty"]
    assert "Certificate" not in dict(summarise(findings["regressor"])["sure"])


def test_a_poor_score_is_not_hidden(findings):
    old = findings["regressor"]
    worse = {"R²": np.array([-0.2, 0.0, -0.1]), "RMSE": np.full(3, 99.0), "MAE": np.full(3, 50.0)}
    poor = replace(old.held_out, selected=Scores(worse))
    summary = summarise(replace(old, held_out=poor))
    assert "no better than the mean" in summary["found"][2]
    assert "A gap to new rows" in dict(summary["beware"])


def test_unstable_variables_are_named(findings):
    old = findings["regressor"]
    shaky = replace(old.stability, selections=(np.zeros(0, dtype=int),) * 4)
    beware = dict(summarise(replace(old, stability=shaky))["beware"])
    assert "gene 0" in beware["Not repeated"]


def test_few_rows_and_small_classes(findings):
    old = findings["two"]
    y = np.where(np.arange(120) < 3, "rare", "common")
    beware = dict(summarise(replace(old, y=y))["beware"])
    assert "rare has 3 rows" in beware["A small class"]
    assert "12 rows" in dict(summarise(replace(old, n_samples=12))["beware"])["Few rows"]


def test_the_same_findings_give_the_same_page(findings, pages):
    assert build_report(findings["cv"]) == pages["cv"]


def test_plots_have_hover_names(pages, findings):
    titles = re.findall(r"<title>([^<]*)</title>", pages["regressor"])
    assert "gene 0" in titles  # a curve
    assert sum(t.startswith("row 1:") for t in titles) == 1  # a sample on the directions
    assert {"gene 3 low", "gene 3 high"} <= set(titles)  # two lines of a pair
    cv = re.findall(r"<title>([^<]*)</title>", pages["cv"])
    assert "gene 0" in cv  # a line of the path


def sections(page):
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    return {part.get("id"): part for part in tree.iter("section")}


def test_the_answer_comes_first(pages):
    order = list(sections(pages["regressor"]))
    rest = ["effects", "together", "sure", "beware", "directions", "redo"]
    assert order == ["variables", "associated", *rest]


def test_pictures_that_say_nothing_are_left_out(findings):
    """One straight effect: its curve is all there is to see."""
    old = findings["regressor"]
    y = 2 * old.X[:, 0]
    model = type(old.model)().fit(old.X, y)
    page = build_report(Findings(model, old.X, y, names=old.names))
    there = sections(page)
    assert {"together", "directions"} & set(there) == set()
    assert len(list(there["effects"].iter("figure"))) == 1
    assert page.count("<figure") == 1


def test_a_straight_effect_is_drawn_as_a_slope(findings, pages):
    """The curve in the page goes up from left to right, as its words say."""
    row = findings["regressor"].variables[0]
    assert row.words == "increasing, straight"
    figure = next(sections(pages["regressor"])["effects"].iter("figure"))
    assert "".join(figure.find("figcaption").itertext()) == f"{row.name} {row.words}"
    group = next(g for g in figure.iter() if (g.get("id") or "").endswith("hover0"))
    path = next(e.get("d") for e in group.iter() if e.tag.endswith("path"))
    at = np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", path), dtype=float)
    assert (np.diff(at[:, 0]) > 0).all()
    assert (np.diff(at[:, 1]) < 0).all()  # heights of an SVG count downwards


def test_change_in_three_units(findings, pages):
    row = findings["regressor"].variables[0]
    text = "".join(sections(pages["regressor"])["variables"].itertext())
    change, low, high = row.effect.change
    for part in (f"{change:.3g}", f"{low:.3g} to {high:.3g}", f"{row.effect.per_sd:.3g} per SD",
                 f"{row.effect.per_unit:.3g} per unit"):  # fmt: skip
        assert part in text


def test_every_class_is_told_of(findings, pages):
    table = "".join(sections(pages["three"])["variables"].itertext())
    for row in findings["three"].variables:
        assert [name for name, _ in row.effects] == ["high", "low", "mid"]
        assert row.words in table
        assert all(name in row.words for name, _ in row.effects)


@pytest.mark.parametrize("kind", KINDS)
def test_plain_words(kind, pages):
    for word in ("S-EGCM", "bend the fitted surface", "EDR"):
        assert word not in pages[kind]


def test_ordinary_notes_are_not_warnings(findings):
    notes = ("12 cells were empty", f"{BEWARE}two rows are alike")
    noted = replace(findings["sparse"], notes=notes)
    assert summarise(noted)["decisions"] == ["12 cells were empty"]
    beware = summarise(noted)["beware"]
    assert ["Beware", "two rows are alike"] in beware
    assert not any("cells" in text or title == "Warning" for title, text in beware)
    page = build_report(noted)
    assert page.index("12 cells were empty") > page.index("How the table was read")


def test_names_are_escaped(pages):
    page = pages["nasty"]
    for name in NASTY[:4]:
        assert name not in page
    assert page.count("<script") == 2  # the data and the page's own
    assert "\u2028" not in page
    assert "\x00" not in page
    assert "49" not in re.findall(r"\{\{ 7 \* 7 \}\} (\d*)", page)


def test_json_cannot_leave_its_script():
    value = ["</script>", "<!--", "&amp;", "\u2028", "\ud800"]
    text = script_safe(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_and_some_of_its_rows(findings, library):
    lib = pytest.importorskip(library)
    old = findings["regressor"]
    frame = lib.DataFrame({name: old.X[:, k] for k, name in enumerate(old.names)})
    model = type(old.model)().fit(frame, old.y)
    page = build_report(Findings(model, frame[:50], old.y[:50], n_samples=120))
    assert "120 rows" in page
    assert "gene 0" in page
    # names known from the fit, values as an array
    assert "gene 0" in build_report(Findings(model, old.X[:50], old.y[:50]))


def test_written_whole_or_not_at_all(findings, tmp_path, monkeypatch):
    path = write_report(tmp_path / "new" / "report.html", findings["nothing"])
    before = path.read_text(encoding="utf-8")
    assert before.startswith("<!doctype html>")

    def full(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_report(path, findings["regressor"])
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_without_jinja_the_error_names_the_extra(findings, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"gradsift\[report\]"):
        build_report(findings["nothing"])


def test_a_category_counts_once_and_covariates_not_at_all(rng):
    X = rng.normal(size=(150, 7))
    kind = rng.integers(3, size=150)
    X[:, 4:] = kind[:, None] == np.arange(3)
    y = 3 * X[:, 0] + 2.0 * (kind == 1) + 0.3 * rng.normal(size=150)
    groups = ["a", "b", "c", "age", "kind", "kind", "kind"]
    names = [*groups[:4], "kind=x", "kind=y", "kind=z"]
    model = GradientSiftRegressor(feature_groups=groups, always_keep=[3]).fit(X, y)
    found = Findings(model, X, y, names=names, groups=groups, covariates=[3], target="out")
    summary = summarise(found)
    assert summary["headline"] == "2 of 4 variables explain out"
    rows = {row["name"]: row for row in summary["variables"]}
    assert set(rows) == {"a", "kind"}
    assert rows["kind"]["effect"].startswith("highest for y, lowest for")
    assert summary["covariates"] == ["age"]
    assert "Beside age, kept as asked and not counted" in summary["asked"]
    assert [row["rank"] for row in summary["variables"]] == [1, 2]  # variables, not columns
    assert sorted(summary["others"]) in ([[3, "b"], [4, "c"]], [[3, "c"], [4, "b"]])
    assert build_report(found).count('data-name="kind"') == 1


def test_columns_that_are_one_variable_have_the_importance_of_what_they_change_together():
    """Also where the model was not told that they are one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 0] = rng.integers(0, 2, 200)
    X[:, 1] = 1.0 - X[:, 0]
    y = 20.0 * X[:, 0] + 3.0 * X[:, 3] + 4.0 * X[:, 4] + rng.normal(size=200)
    model = GradientSiftRegressor(always_keep=[0, 1]).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 3, 4]
    both = importance_together(model, X, np.array([0, 1]))
    assert both == pytest.approx(20.0 * X[:, 0].std(), rel=0.05)
    assert importance_together(model, X, np.array([3, 4])) == pytest.approx(5.0, rel=0.1)


def test_columns_that_never_change_are_counted_only_where_they_are_kept(rng):
    X = rng.normal(size=(80, 3))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=80)
    X[:, 2] = 4.0
    model = GradientSiftRegressor(always_keep=[2]).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    kept = summarise(Findings(model, X, y))
    assert kept["columns"] == kept["n_selected"] == 3
    for standardize in (True, False):
        found = Findings(
            GradientSiftRegressor(options=SiftOptions(standardize=standardize)).fit(X, y), X, y
        )
        assert (found.columns, found.n_selected, found.others) == (2, 2, [])


def test_rows_in_which_a_category_never_changes_can_be_reported_on(rng):
    X = rng.normal(size=(60, 4))
    X[:, 0] = np.arange(60) % 2
    X[:, 1] = 1.0 - X[:, 0]
    y = 5.0 * X[:, 0] + X[:, 2] + 0.3 * rng.normal(size=60)
    model = GradientSiftRegressor(always_keep=[0, 1]).fit(X, y)
    page = build_report(Findings(model, X[:1], y[:1], groups=["sex", "sex", "c", "d"]))
    assert "sex" in page
