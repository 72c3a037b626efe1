"""The picture in README.md, drawn from its table of rivals.

PYTHONPATH=benchmarks python -m selection.figure
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
STYLE = {"gradsift": ("#0072B2", "o"), "forest": ("#D55E00", "s"), "Lasso": ("#999999", "^")}


def read_table(text: str) -> tuple[list[str], dict[str, list[float]]]:
    """Designs and average precision per contestant, from the table that starts with | design |."""
    lines = text[text.index("| design | gradsift |") :].split("\n\n")[0].splitlines()
    names = [cell.strip() for cell in lines[0].strip("|").split("|")][1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    values = {name: [float(row[k + 1]) for row in rows] for k, name in enumerate(names)}
    return [row[0] for row in rows], values


def main() -> None:
    designs, values = read_table((HERE / "README.md").read_text())
    order = sorted(range(len(designs)), key=lambda i: (values["gradsift"][i], values["forest"][i]))
    figure, axis = plt.subplots(figsize=(7, 0.23 * len(designs) + 1.2), layout="constrained")
    for label, (colour, marker) in reversed(STYLE.items()):
        points = [values[label][i] for i in order]
        axis.plot(points, range(len(order)), marker, color=colour, label=label, markersize=6)
    axis.set_yticks(range(len(order)), [designs[i] for i in order], fontsize=8)
    axis.set_xlabel("average precision of the ranking (1 = all true variables first)")
    axis.grid(axis="x", alpha=0.3)
    axis.legend(loc="lower left", framealpha=1)
    figure.savefig(HERE / "rivals.png", dpi=110)


if __name__ == "__main__":
    main()
