"""What a log shows of a run: a line when it begins, and then one every few seconds."""

from gradsift.cli import _select
from gradsift.cli._select import EVERY, Progress


def test_a_log_has_few_lines(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_select, "perf_counter", lambda: now[0])
    progress = Progress(cv=5)
    progress.is_log = True
    for second in range(0, 40, 2):
        now[0] = float(second)
        progress.say(f"stage {second}")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("stage 0")
    assert len(lines) == 40 / EVERY
