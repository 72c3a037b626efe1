"""A real browser for tests of pages, where there is one."""

import os
import shutil

CHROMIUM = os.environ.get("GRADSIFT_CHROMIUM") or shutil.which("chromium")
NO_CHROMIUM = "no Chromium found on the path"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
