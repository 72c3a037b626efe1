"""The page "In the browser": a dropped table becomes a report in the tab, and nothing is sent."""

import csv
import io
import re
import shutil
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from chromium import CHROMIUM, FLAGS, NO_CHROMIUM

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "docs" / "_static" / "browser"
COLLECTED = ROOT / "build" / "browser" / "pyodide"
MINUTES = 10 * 60_000

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM),
    pytest.mark.skipif(
        not (COLLECTED / "gradsift.zip").exists(),
        reason="`make browser` has not collected Pyodide, whose parts come from PyPI",
    ),
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page on a server of its own, laid out as the site is."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "docs").mkdir()
    shutil.copytree(STATIC, folder / "_static" / "browser")
    (folder / "pyodide").symlink_to(COLLECTED)
    text = (ROOT / "docs" / "browser.md").read_text()
    html = re.search(r"```\{raw\} html\n(.*?)```", text, re.DOTALL).group(1)
    (folder / "docs" / "browser.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{html}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/docs/browser.html"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(address):
    """The page in a browser; afterwards nothing may have been sent, or fetched from elsewhere."""
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context()
        asked = []
        context.on("request", lambda request: asked.append((request.method, request.url)))
        page = context.new_page()
        page.set_default_timeout(MINUTES)
        page.goto(address)
        yield page
        browser.close()
    home = address.removesuffix("docs/browser.html")
    assert len(asked) > 10
    assert {method for method, _ in asked} <= {"GET", "HEAD"}
    elsewhere = [url for _, url in asked if not url.startswith((home, "blob:", "data:", "about:"))]
    assert elsewhere == []


def table_text():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5)).round(6)
    y = X[:, 1] ** 2 + X[:, 3] + 0.2 * rng.normal(size=80)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["a", "dose", "b", "age", "c", "group", "yield"])
    groups = np.where(rng.random(80) < 0.5, "left", "right")
    writer.writerows([*row, group, value] for row, group, value in zip(X.tolist(), groups, y))
    return out.getvalue().replace(str(X[3, 0]), "NA")


def selected(text):
    return [row["name"] for row in csv.DictReader(io.StringIO(text))]


def said(page):
    return page.locator("#gradsift-said").inner_text()


def test_a_dropped_table_becomes_the_report_that_the_command_writes(page, tmp_path, monkeypatch):
    text = table_text()
    page.evaluate(
        """text => {
            const held = new DataTransfer();
            held.items.add(new File([text], "harvest.csv"));
            const drop = new DragEvent("drop", { dataTransfer: held, bubbles: true });
            document.getElementById("gradsift-browser").dispatchEvent(drop);
        }""",
        text,
    )
    page.locator("#gradsift-ask").wait_for(state="visible")
    assert page.locator("#gradsift-target").input_value() == "yield"
    assert "harvest.csv: 7 columns" in said(page)
    page.locator("#gradsift-missing").select_option("drop")
    page.locator("#gradsift-drop").select_option(["c"])
    page.locator("#gradsift-run").click()
    page.locator("#gradsift-result").wait_for(state="visible")
    assert "with yield" in said(page)
    report = page.frame_locator("#gradsift-report")
    assert "with yield" in report.locator("h1").inner_text()
    links = page.locator("#gradsift-files a").all()
    kept = {link.inner_text(): link.get_attribute("href") for link in links}
    assert {"report.html", "selected.csv", "findings.csv", "summary.json"} <= set(kept)
    in_the_tab = page.evaluate("url => fetch(url).then(a => a.text())", kept["selected.csv"])

    monkeypatch.syspath_prepend(STATIC)
    monkeypatch.delitem(sys.modules, "make_report", raising=False)
    import make_report

    path = tmp_path / "harvest.csv"
    path.write_text(text)
    _, files = make_report.make_report(path, "yield", print, ["c"], "drop")
    assert selected(in_the_tab) == selected(files["selected.csv"])
    assert set(selected(in_the_tab)) >= {"dose", "age"}


def test_a_table_that_cannot_be_read_is_refused_in_a_sentence(page, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("1,2,3\n4,5,6\n")
    page.locator("#gradsift-file").set_input_files(path)
    page.get_by_text("expected a header with the names of the columns").wait_for()
    assert "Traceback" not in said(page)
    assert page.locator("#gradsift-ask").is_hidden()
