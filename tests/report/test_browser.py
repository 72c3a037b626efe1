"""The page in a real browser: quiet, offline, sortable, searchable, and deaf to hostile names."""

import pytest
from chromium import CHROMIUM, FLAGS, NO_CHROMIUM
from report_cases import KINDS

from gradsift.report._render import breakable

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, pages, tmp_path):
    """visit(kind, **options) opens a report; afterwards nothing may have been said or fetched."""
    said, fetched, opened = [], [], []

    def go(kind, **options):
        file = tmp_path / "report.html"
        file.write_text(pages[kind], encoding="utf-8")
        page = browser.new_page(**options)
        opened.append(page)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(file.as_uri())
        return page

    yield go
    for page in opened:
        page.close()
    assert said == []
    elsewhere = [url for url in fetched if not url.startswith(("data:", "file:"))]
    assert elsewhere == []
    assert sum(url.startswith("file:") for url in fetched) == len(opened)


def names(page):
    return page.locator("#table tbody th").all_inner_texts()


@pytest.mark.parametrize("kind", [*KINDS, "nasty"])
def test_loads_quietly_and_fits_the_screen(kind, visit):
    for width in (390, 1180):
        page = visit(kind, viewport={"width": width, "height": 800})
        assert page.locator("h1").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("kind", ["regressor", "two", "three", "wide"])
def test_the_whole_table_is_seen_at_1280(kind, visit):
    """Nothing is cut off, and no short name is broken inside."""
    page = visit(kind, viewport={"width": 1280, "height": 900})
    inner, outer = page.evaluate(
        "(() => { const box = document.querySelector('#variables .scroll');"
        " return [box.scrollWidth, box.clientWidth]; })()"
    )
    assert inner <= outer
    lines = page.evaluate(
        "[...document.querySelectorAll('#table tbody th, #table .whole')].map((cell) => {"
        " const range = document.createRange(); range.selectNodeContents(cell);"
        " return range.getClientRects().length; })"
    )
    assert lines
    assert set(lines) == {1}


@pytest.mark.parametrize("kind", ["regressor", "findings", "three", "wide"])
def test_no_table_scrolls_sideways_on_a_phone(kind, visit):
    page = visit(kind, viewport={"width": 390, "height": 800})
    boxes = page.evaluate(
        "[...document.querySelectorAll('.scroll')].map((box) => [box.scrollWidth, box.clientWidth])"
    )
    assert boxes
    assert all(inner <= outer for inner, outer in boxes)


def test_long_names_go_on_in_a_new_line_after_a_separator(visit, pages):
    name = "od280/od315_of_diluted_wines_and_other_drinks"
    pages["long"] = pages["regressor"].replace(
        ">gene 0</th>", f' class="long">{breakable(name)}</th>'
    )
    page = visit("long", viewport={"width": 700, "height": 900})
    lines = page.evaluate(
        "(() => { const cell = document.querySelector('#table th.long');"
        " const text = [...cell.childNodes].filter((node) => node.nodeType === 3);"
        " const range = document.createRange();"
        " return text.map((node) => { range.selectNodeContents(node);"
        " return range.getClientRects().length; }); })()"
    )
    assert len(lines) == 8
    assert set(lines) == {1}  # every part of the name is whole


def test_sorting(visit, findings):
    page = visit("regressor")
    model = findings["regressor"].model
    assert names(page) == [row["name"] for row in sorted_rows(findings, "rank")]
    page.get_by_role("button", name="Importance").click()
    by_size = [row["name"] for row in sorted_rows(findings, "importance")][::-1]
    assert names(page) == by_size
    assert page.locator("th[aria-sort]").inner_text().startswith("Importance")
    page.get_by_role("button", name="Importance").click()
    assert names(page) == by_size[::-1]
    page.get_by_role("button", name="Variable").click()
    assert names(page) == ["gene 0", "gene 1", "gene 2", "gene 3"]
    assert len(names(page)) == model.get_support().sum()


def sorted_rows(findings, key):
    from gradsift.report import summarise

    return sorted(summarise(findings["regressor"])["variables"], key=lambda row: row[key])


def test_search_covers_all_variables(visit):
    page = visit("wide")
    assert names(page) == ["ENSG00000000004", "ENSG00000000003"]
    page.get_by_label("Search").fill("ensg00000001234")
    assert names(page) == ["ENSG00000001234"]
    assert "not selected" in page.locator("#table tbody tr").inner_text()
    page.get_by_label("Search").fill("nobody")
    assert "No variable has that in its name" in page.locator("#table tbody").inner_text()
    page.get_by_label("Search").fill("")
    page.get_by_label("also those not selected").check()
    assert "10,000 variables" in page.locator("#count").inner_text()
    assert len(names(page)) == 30
    page.get_by_role("button", name="Show more").click()
    assert len(names(page)) == 60


def test_hostile_names_do_not_run(visit):
    page = visit("nasty")
    page.get_by_label("also those not selected").check()
    page.get_by_role("button", name="Variable").click()
    page.get_by_label("Search").fill("script")
    shown = names(page)
    assert shown
    assert all("script" in name for name in shown)
    assert any("<script>window.hacked = 1</script>" in name for name in shown)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None


def test_even_an_injected_script_is_refused(browser, pages, tmp_path):
    """The page's policy stands behind the escaping."""
    file = tmp_path / "report.html"
    bad = "<script>window.hacked = 9</script><img src=x onerror='window.hacked = 10'></main>"
    file.write_text(pages["nothing"].replace("</main>", bad), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".controls").is_visible()  # while its own script runs
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_themes(scheme, visit):
    page = visit("regressor", color_scheme=scheme)
    ink, paper = page.evaluate(
        "['color', 'backgroundColor'].map((key) => getComputedStyle(document.body)[key])"
    )
    assert contrast(ink, paper) > 7
    axis = page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
    assert contrast(axis, paper) > 7


def contrast(a, b):
    """WCAG contrast of two 'rgb(r, g, b)'."""

    def light(colour):
        parts = [int(c) / 255 for c in colour[4:-1].split(",")]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted([light(a), light(b)])
    return (high + 0.05) / (low + 0.05)


def test_print_hides_the_controls(visit):
    page = visit("regressor", color_scheme="dark")
    assert page.locator(".controls").is_visible()
    page.emulate_media(media="print")
    assert not page.locator(".controls").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_without_scripts_the_table_is_there(visit):
    page = visit("regressor", java_script_enabled=False)
    assert len(names(page)) == 4
    assert not page.locator(".controls").is_visible()
