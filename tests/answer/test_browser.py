"""The page in a real browser: quiet, offline, whole at two widths, and deaf to hostile names."""

import html5lib
import pytest
from answer_cases import NASTY
from chromium import CHROMIUM, FLAGS, NO_CHROMIUM

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)

KINDS = ["diabetes", "wine", "trial", "rare", "noise", "nasty", "sparse", "deaths"]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, answers, tmp_path):
    """visit(kind, **options) opens a page; afterwards nothing may have been said or fetched."""
    said, fetched, opened = [], [], []

    def go(kind, **options):
        file = tmp_path / "report.html"
        file.write_text(answers[kind].to_html(), encoding="utf-8")
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
    assert [url for url in fetched if not url.startswith("file:")] == []
    assert len(fetched) == len(opened)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_the_screen_and_unfolds(kind, width, visit):
    page = visit(kind, viewport={"width": width, "height": 860})
    assert page.locator("h1").is_visible()
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.hacked") is None


def test_dark_mode_changes_the_paper(visit):
    colours = {
        scheme: visit("diabetes", color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert colours["light"] == "rgb(255, 255, 255)"
    assert colours["dark"] != colours["light"]


def test_hostile_names_are_text(answers):
    page = answers["nasty"].to_html()
    tree = html5lib.HTMLParser(strict=False).parse(page)
    names = {
        element.tag.rpartition("}")[2] for element in tree.iter() if isinstance(element.tag, str)
    }
    assert "script" not in names
    assert "img" not in names
    assert not any(c in page for c in "\x1b\x00\u202e")
    text = answers["nasty"].to_console(100, details=True)
    assert all(line.isprintable() for line in text.split("\n"))
    assert "<script>" in text or NASTY[0][:8] in text
