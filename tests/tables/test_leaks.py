"""The target among the variables: refused where it is certain, named where it may be."""

import numpy as np
import pytest

from gradsift.cli._exit import run
from gradsift.tables import BEWARE, Choices, prepare
from gradsift.tables.frame import make_frame

N = 60


def texts(values):
    return np.array([str(v) for v in values], dtype=object)


def frame(rng, y, n=N, p=5, **more):
    noise = rng.normal(size=(n, p))
    names = [f"g{k}" for k in range(p)]
    return make_frame([*names, *more, "y"], [*noise.T, *more.values(), y])


def loud(table):
    return [note for note in table.notes if note.startswith(BEWARE)]


@pytest.mark.parametrize("option", ["drop", "categorical", "keep"])
def test_the_target_has_no_second_role(rng, option):
    table = frame(rng, rng.normal(size=N))
    with pytest.raises(ValueError, match=f"'y' is the target.*--{option}"):
        prepare(table, Choices("y", **{option: ("y",)}))
    with pytest.raises(ValueError, match=r"'y' is the target.*--id"):
        prepare(table, Choices("y", id="y"))


def test_contradictions_are_refused_and_kept_categories_are_not(rng):
    table = frame(rng, rng.normal(size=N), sex=texts(rng.integers(2, size=N)))
    with pytest.raises(ValueError, match="'g1' cannot be given to both --drop and --keep"):
        prepare(table, Choices("y", drop=("g1",), keep=("g1",)))
    with pytest.raises(ValueError, match="'sex' cannot be given to both --id and --categorical"):
        prepare(table, Choices("y", id="sex", categorical=("sex",)))
    kept = prepare(table, Choices("y", categorical=("sex",), keep=("sex",)))
    assert len(kept.keep) == 2


LABELS = {
    "a copy": lambda c: c.astype(float),
    "other numbers": lambda c: np.where(c == 1, -5.0, 17.0),
    "text": lambda c: texts(np.where(c == 1, "ill", "well")),
    "one category of three": lambda c: texts(np.where(c == 1, "x", np.arange(len(c)) % 2)),
    "a copy with holes": lambda c: np.where(np.arange(len(c)) % 5 == 0, np.nan, c),
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("as_text", [False, True])
def test_classes_under_any_name_are_refused(rng, name, as_text):
    classes = rng.integers(2, size=N)
    y = texts(np.where(classes == 1, "yes", "no")) if as_text else classes.astype(float)
    table = frame(rng, y, leak=LABELS[name](classes))
    with pytest.raises(ValueError, match=r"'leak' holds the target 'y' itself.*--drop leak\."):
        prepare(table, Choices("y", missing="mean"))
    assert loud(prepare(table, Choices("y", drop=("leak",)))) == []


def test_text_with_the_classes_of_many_is_refused(rng):
    classes = rng.integers(4, size=N)
    table = frame(rng, texts(classes), leak=texts((classes + 1) % 4))
    with pytest.raises(ValueError, match="'leak' holds the target"):
        prepare(table, Choices("y"))


def test_categories_finer_than_the_classes_are_named(rng):
    finer = rng.integers(6, size=N)
    table = prepare(frame(rng, texts(finer // 2), detail=texts(finer)), Choices("y"))
    assert len(loud(table)) == 1
    assert "'detail' has categories that each go with one value" in loud(table)[0]


def test_a_copy_of_numbers_is_refused_and_its_maps_are_named(rng):
    y = rng.gamma(2.0, size=N)
    with pytest.raises(ValueError, match=r"'leak' holds the target.*in all 60 rows"):
        prepare(frame(rng, y, leak=y.copy()), Choices("y"))
    with pytest.raises(ValueError, match="'leak' holds the target"):
        prepare(
            frame(rng, y, leak=y.copy()),
            Choices("y", log=True, drop=tuple(f"g{k}" for k in range(5))),
        )
    holed = np.where(rng.uniform(size=N) < 0.2, np.nan, y)
    with pytest.raises(ValueError, match="'leak' holds the target"):
        prepare(frame(rng, y, leak=holed), Choices("y", missing="mean"))
    for change in (np.log, lambda v: 2 * v + 1, lambda v: -v, np.sqrt):
        table = prepare(frame(rng, y, leak=change(y)), Choices("y"))
        assert len(loud(table)) == 1
        assert "'leak' orders the rows exactly as the target 'y' does" in loud(table)[0]
        assert "--drop leak" in loud(table)[0]


def test_what_may_be_chance_is_named_not_refused(rng):
    """A 0/1 column equals a 0/1 target in 20 rows: among 20,000 columns that happens."""
    y = np.repeat([0.0, 1.0], 10)
    noise = rng.integers(2, size=(20, 20_000)).astype(float)
    noise[:, 77] = y
    names = [f"s{k}" for k in range(20_000)]
    table = prepare(make_frame([*names, "y"], [*noise.T, y]), Choices("y"))
    assert table.X.shape == (20, 20_000)
    assert len(loud(table)) == 1
    assert "'s77' tells the target 'y' exactly, which may be chance" in loud(table)[0]


def test_strong_but_honest_predictors_raise_no_alarm(rng):
    for _ in range(20):
        x = rng.normal(size=(200, 30))
        y = x[:, 0] + 1e-3 * rng.normal(size=200)
        names = [f"g{k}" for k in range(30)]
        assert loud(prepare(make_frame([*names, "y"], [*x.T, y]), Choices("y"))) == []
        classes = (x[:, 0] > 0).astype(float)
        table = make_frame([*names, "y"], [*x.T, classes])
        assert loud(prepare(table, Choices("y"))) == []
        sign = np.where(rng.uniform(size=200) < 0.02, 1 - classes, classes)
        table = make_frame([*names, "sign", "y"], [*x.T, sign, classes])
        assert loud(prepare(table, Choices("y"))) == []


def test_few_rows_of_few_columns_raise_no_alarm(rng):
    y = np.arange(5.0)
    table = make_frame(["a", "b", "y"], [y**2, rng.normal(size=5), y])
    assert loud(prepare(table, Choices("y", "regression"))) == []


def test_two_columns_that_end_up_with_one_name_are_refused(rng):
    more = {"sex=f": rng.normal(size=N), "sex": texts(rng.choice(["f", "m"], size=N))}
    with pytest.raises(ValueError, match=r"two columns would be called 'sex=f'.*'sex=f', 'sex'"):
        prepare(frame(rng, rng.normal(size=N), **more), Choices("y"))


def test_the_command_names_a_map_twice_and_refuses_a_copy(rng, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y = rng.gamma(2.0, size=N)
    table = np.column_stack([rng.normal(size=N), np.log(y), y, y])
    np.savetxt("t.csv", table, fmt="%.17g", delimiter=",", header="a,logy,copy,y", comments="")
    quick = ["--cv", "0", "--stability", "0"]
    assert run(["select", "t.csv", "--target", "y", *quick]) == 2
    assert "--drop copy" in capsys.readouterr().err
    assert run(["select", "t.csv", "--target", "y", "--categorical", "y", *quick]) == 2
    assert "'y' is the target" in capsys.readouterr().err
    assert run(["select", "t.csv", "--target", "y", "--drop", "copy", *quick]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("beware: 'logy' orders the rows exactly") == 2
