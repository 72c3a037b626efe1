"""Which names say where columns lie."""

import numpy as np
import pytest

from gradsift.displays.scale import column_positions


@pytest.mark.parametrize(
    ("names", "unit"),
    [
        ([f"{900 + k} nm" for k in range(30)], "nm"),
        ([f"{2000 - 3.5 * k:.1f}" for k in range(30)], ""),
        ([f"{k}.nm" for k in range(400, 430)], "nm"),
        ([f"{k} cm-1" for k in range(400, 430)], "cm-1"),
    ],
)
def test_numbers_with_one_unit_are_a_scale(names, unit):
    found = column_positions(names)
    assert found.unit == unit
    assert found.at[0] == float(names[0].removesuffix(unit).rstrip(" ."))


@pytest.mark.parametrize(
    "names",
    [
        [f"gene {k}" for k in range(30)],
        [f"x{k}" for k in range(30)],
        [f"{k} nm" for k in [*range(20), 3]],  # not in order
        [*(f"{k} nm" for k in range(30)), "age"],
        [*(f"{k} nm" for k in range(30)), "31 mm"],
        [f"{k} nm" for k in range(5)],  # too few
        [f"chr{1 + k % 2}:{k}" for k in range(30)],  # chromosomes not in order
    ],
)
def test_other_names_are_none(names):
    assert column_positions(names) is None


def test_chromosomes_follow_each_other():
    names = [f"chr{c}:{100 * k}" for c in ("1", "2", "X") for k in range(1, 11)]
    found = column_positions(names)
    assert [name for _, name in found.breaks] == ["1", "2", "X"]
    assert [start for start, _ in found.breaks] == [0.0, 1000.0, 2000.0]
    assert (np.diff(found.at) > 0).all()
    assert found.at[10] == 1100.0
