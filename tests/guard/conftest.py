"""After a fuzz run: the figures per entry, printed and kept."""

from guard import counting

collect_ignore = ["atheris_readers.py"]  # a program of its own, for `make fuzz`


def pytest_terminal_summary(terminalreporter):
    if counting.FUZZ and counting.COUNTS:
        terminalreporter.section("cases per entry")
        for line in counting.table():
            terminalreporter.write_line(line)


def pytest_sessionfinish():
    if counting.FUZZ and counting.COUNTS:
        counting.write_figures()
