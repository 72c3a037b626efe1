"""What the page "In the browser" runs: a text table becomes the files of `gradsift select`."""

from datetime import datetime
from pathlib import Path

from gradsift.pipeline import Settings, select, write_files
from gradsift.tables import Choices, fingerprint, open_table
from gradsift.tables.reading import read_frame


def column_names(path):
    """The names in the header of a table."""
    return list(read_frame(Path(path)).order)


def make_report(path, target, say, drop=(), missing="auto"):
    """The headline, and the text of every file that can be shown or kept."""
    path, out = Path(path), Path("/tmp/gradsift-out")
    out.mkdir(exist_ok=True)
    table = open_table(path, Choices(target, drop=tuple(drop), missing=missing))
    made = {
        "source": path.name,
        "command": f"gradsift select {path.name} --target {target}",
        "data": fingerprint(path),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
    }
    selection = select(table, Settings(), say, made)
    say("writing the report")
    write_files(out, selection, table)
    kept = [file for file in sorted(out.iterdir()) if file.suffix in (".html", ".csv", ".json")]
    return selection.answer.headline, {f.name: f.read_text(encoding="utf-8") for f in kept}
