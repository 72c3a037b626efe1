"""The picture of average precision, drawn from the record of rivals.

cd benchmarks; python -m measurements.figure
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import tables

HERE = Path(__file__).parents[1] / "selection"
STYLE = {"gradsift": ("#0072B2", "o"), "forest": ("#D55E00", "s"), "Lasso": ("#999999", "^")}


def main() -> None:
    head, rows = tables.one("selection/rivals")
    designs = [row[0] for row in rows]
    values = {name: [float(row[k]) for row in rows] for k, name in enumerate(head) if k}
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
