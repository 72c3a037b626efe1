"""The lines of a text file, in blocks that keep memory bounded."""

from __future__ import annotations

from collections import deque
from typing import IO

from gradsift._run.memory import available_memory

CHUNK = 1 << 20
"""Characters read at a time."""
LINE_SHARE = 1 / 50
"""Part of the memory a line may take as text: as cells it takes up to 40 times that."""
HEAD_LINES, HEAD_CHARACTERS = 50, 1 << 16
"""Lines that tell the delimiter, and characters after which fewer are enough."""


class Lines:
    """The lines of a text file, without their ends, read in chunks."""

    def __init__(self, file: IO[str], name: str) -> None:
        self.name, self.number = name, 0  # of lines handed out
        self._file = file
        self._most = int(min(available_memory() * LINE_SHARE, 1 << 31))
        self._held: deque[str] = deque()
        self._begun: list[str] = []
        self._over = False

    def _more(self) -> bool:
        """Hold at least one line more, unless the file is at its end."""
        while not self._over:
            piece = self._file.read(min(CHUNK, self._most))
            self._over = not piece
            *whole, rest = ("".join(self._begun) + piece).split("\n") if "\n" in piece else [piece]
            if whole:
                self._begun = []
            self._begun.append(rest)
            if self._over:
                last = "".join(self._begun)
                whole = [last] if last else []
            self._held.extend(whole)
            if sum(map(len, self._begun)) >= self._most:
                raise ValueError(
                    f"{self.name}, line {self.number + len(self._held) + 1} is longer than "
                    f"{self._most:,} characters, more than the memory available can take: it is "
                    "no table."
                )
            if whole:
                return True
        return False

    def peek(self) -> list[str]:
        """The next lines, as many as tell how the table is written; they stay to be read."""
        while len(self._held) < HEAD_LINES and (
            len(self._held) < 3 or sum(map(len, self._held)) < HEAD_CHARACTERS
        ):
            if not self._more():
                break
        return list(self._held)[:HEAD_LINES]

    def line(self) -> str | None:
        """The next line, None at the end."""
        if not self._held and not self._more():
            return None
        self.number += 1
        return self._held.popleft()

    def block(self) -> list[str]:
        """All lines in hand, or those of the next chunk; none at the end."""
        if not self._held:
            self._more()
        out = list(self._held)
        self._held.clear()
        self.number += len(out)
        return out
