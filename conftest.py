"""The code blocks of README.md and docs/ are run, and what they print is compared: make docs-check.

`python` blocks of a page share one namespace, and are doctests where they begin with >>>. `console`
blocks are run by the shell, line by line. Each page works in an empty folder of its own, in which
gene data lies where there is any (`GRADSIFT_DATA`). A block that cannot run here says why, in a
comment that readers do not see: <!-- skip: next "why" -->.
"""

import os
import re
import subprocess
import sys
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, Example
from pathlib import Path

import numpy as np
from sybil import Sybil
from sybil.evaluators.doctest import OutputChecker
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

# what `make docs` leaves beside the pages is no page, and neither is what it is told
collect_ignore_glob = ["build/*", "docs/gallery/*", "docs/api/generated/*", "docs/conf.py"]
ROOT = Path(__file__).parent
DATA = Path(os.environ.get("GRADSIFT_DATA", ROOT.parent / "shared" / "data"))
FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE
# in a terminal one line, overwritten
PROGRESS = re.compile(r"^ *(?:\d+ (?:h|min) )*[0-9.]+ s  .*\n", re.MULTILINE)
SECONDS = re.compile(r"\b(?:\d+ (?:h|min) )*[0-9.]+ s\b")


def start(namespace):
    """A folder for the page, with the gene tables its commands are told about."""
    namespace["_before"] = Path.cwd()
    namespace["_folder"] = tempfile.TemporaryDirectory(prefix="gradsift-page-")
    os.chdir(namespace["_folder"].name)
    namespace["no_gene_data"] = not DATA.is_dir()
    if DATA.is_dir():
        write_gene_tables()


def end(namespace):
    os.chdir(namespace["_before"])
    namespace["_folder"].cleanup()


def write_gene_tables():
    """colon.csv and riboflavin.csv, as a user would have them."""
    with np.load(DATA / "colon.npz") as data:
        tissue = np.where(data["y"] == 1, "tumor", "normal")
        names = unique(data["feature_names"])
        samples = [f"tissue{k}" for k in range(1, len(tissue) + 1)]
        write_csv("colon.csv", ["sample", "tissue", *names], samples, tissue, data["X"])
    with np.load(DATA / "riboflavin.npz") as data:
        names = unique(data["feature_names"])
        write_csv("riboflavin.csv", ["log_rate", *names], data["y"].tolist(), data["X"])


def unique(names):
    """Names that occur twice get a number."""
    seen, out = {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(str(name) if seen[name] == 1 else f"{name}.{seen[name]}")
    return out


def write_csv(file, header, *columns):
    """A table; the last of the columns is a matrix."""
    *front, X = columns
    with open(file, "w", encoding="utf-8") as out:
        out.write(",".join(header) + "\n")
        for *cells, row in zip(*front, X, strict=True):
            out.write(",".join([*map(str, cells), *(repr(float(v)) for v in row)]) + "\n")


def console(example):
    """Run each line that begins with $; compare what it prints with the lines below it.

    With GRADSIFT_DOCS=rewrite what is printed is written into the page (`make docs-write`).
    """
    block = example.parsed
    commands = [part.partition("\n")[0] for part in ("\n" + block).split("\n$ ")[1:]]
    printed = "".join(f"$ {command}\n{in_shell(command)}" for command in commands)
    if os.environ.get("GRADSIFT_DOCS") == "rewrite":
        page = Path(example.path)
        page.write_text(page.read_text("utf-8").replace(str(block), printed), "utf-8")
        return None
    checker = OutputChecker()
    if checker.check_output(str(block), printed, FLAGS):
        return None
    return checker.output_difference(Example("", str(block)), printed, FLAGS)


def in_shell(command):
    """What a command prints in a terminal of 100 columns, without progress and with times left out.

    Warnings and errors are included.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    here = {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "MPLBACKEND": "agg"}
    done = subprocess.run(
        command,
        shell=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **here},
        check=False,
    )
    lines = PROGRESS.sub("", done.stdout).lstrip("\n").splitlines()
    return SECONDS.sub("... s", "".join(f"{line.rstrip()}\n" for line in lines))


pytest_collect_file = Sybil(
    parsers=[
        SkipParser(),
        PythonCodeBlockParser(doctest_optionflags=FLAGS),
        CodeBlockParser(language="console", evaluator=console),
    ],
    path=str(ROOT),
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
    setup=start,
    teardown=end,
).pytest()
