"""What the page "In the browser" runs: a text table becomes the files of `gradsift select`."""

from datetime import datetime
from pathlib import Path

from gradsift.pipeline import Settings, record_training, select, write_files
from gradsift.report import build_report
from gradsift.report.words import headline
from gradsift.tables import Choices, fingerprint, open_table
from gradsift.tables.reading import read_frame


def column_names(path):
    """The names in the header of a table."""
    return list(read_frame(Path(path)).order)


def make_report(path, target, say, drop=(), missing="error"):
    """The headline, and the text of every file that can be shown or kept."""
    path, out = Path(path), Path("/tmp/gradsift-out")
    out.mkdir(exist_ok=True)
    table = open_table(path, Choices(target, drop=tuple(drop), missing=missing))
    for note in table.notes:
        say(note)
    findings = select(
        table,
        Settings(),
        say,
        source=path.name,
        command=f"gradsift select {path.name} --target {target}",
        fingerprint=fingerprint(path),
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
    )
    say("writing the report")
    training = record_training(findings.model, table.X, table.y, table.keep.tolist())
    write_files(out, findings, table.recipe, training)
    (out / "report.html").write_text(build_report(findings), encoding="utf-8")
    kept = [file for file in sorted(out.iterdir()) if file.suffix in (".html", ".csv", ".json")]
    return headline(findings), {file.name: file.read_text(encoding="utf-8") for file in kept}
