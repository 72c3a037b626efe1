import numpy as np
import pytest

from gradsift.tables import Choices, fingerprint, open_new, open_table


@pytest.fixture
def numbers(tmp_path, rng):
    """A matrix on disk, and its response in a table of its own."""
    X = rng.normal(size=(12, 5))
    np.save(tmp_path / "X.npy", X)
    y = X[:, 2].round(3)
    (tmp_path / "y.csv").write_text("y,group\n" + "".join(f"{v},g\n" for v in y))
    return X, y, tmp_path


def test_storage_too_large_for_memory_stays_where_it_is(numbers, monkeypatch):
    _, y, folder = numbers
    monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 100)
    table = open_table(folder / "X.npy", Choices("y"), target_from=folder / "y.csv")
    assert not isinstance(table.X, np.ndarray)
    assert table.X.shape == (12, 5)
    np.testing.assert_allclose(table.y, y)
    assert table.names is None
    with pytest.raises(
        ValueError, match=r"X\.npy is too large to be taken into memory .* log does not work"
    ):
        open_table(folder / "X.npy", Choices("y", transform="log"), target_from=folder / "y.csv")
    with pytest.raises(ValueError, match="holds no response"):
        open_table(folder / "X.npy", Choices("y"))


def test_target_from_another_table(numbers):
    X, y, folder = numbers
    text = "a,b,c,d,e\n" + "\n".join(",".join(map(str, row)) for row in X)
    (folder / "X.csv").write_text(text)
    with pytest.raises(ValueError, match=r"no column of y\.csv names samples of X\.csv"):
        open_table(folder / "X.csv", Choices("y"), target_from=folder / "y.csv")
    in_order = Choices("y", by="position", use=("c",))
    table = open_table(folder / "X.csv", in_order, target_from=folder / "y.csv")
    np.testing.assert_allclose(table.y, y)
    assert table.names == ("a", "b", "c", "d", "e")
    short = folder / "short.csv"
    short.write_text("y\n1\n2\n")
    with pytest.raises(ValueError, match=r"short\.csv has 2 rows and X\.csv 12"):
        open_table(folder / "X.csv", in_order, target_from=short)
    with pytest.raises(ValueError, match="no column 'z'"):
        open_table(folder / "X.csv", Choices("z"), target_from=folder / "y.csv")


def test_new_tables_need_no_target(numbers):
    X, _, folder = numbers
    text = "who,a,b,y\n" + "\n".join(f"s{i},{r[0]},{r[1]},{r[2]}" for i, r in enumerate(X))
    (folder / "t.csv").write_text(text)
    recipe = open_table(folder / "t.csv", Choices("y")).recipe
    found, ids, y, *_ = open_new(folder / "t.csv", recipe)
    np.testing.assert_allclose(found, X[:, :2])
    assert ids[0] == "s0"
    np.testing.assert_allclose(y, X[:, 2])
    (folder / "new.csv").write_text("b,a\n1,2\n")
    found, ids, y, *_ = open_new(folder / "new.csv", recipe)
    np.testing.assert_array_equal(found, [[2, 1]])
    assert ids is None
    assert y is None


def test_missing_values_that_a_model_needs_are_told_by_name_and_line(numbers):
    _, _, folder = numbers
    rows = [f"{i},{(7 * i) % 5},{'fm'[i % 2]},{i * i}" for i in range(12)]
    (folder / "t.csv").write_text("\n".join(["a,b,sex,y", *rows]))
    recipe = open_table(folder / "t.csv", Choices("y", use=("a",), missing="error")).recipe
    (folder / "new.csv").write_text("sex,b,a\nf,1,2\nm,NA,2\nf,3,\n")
    words = r"2 values that the model needs are missing, the first in column 'b', line 3\."
    with pytest.raises(ValueError, match=words):
        open_new(folder / "new.csv", recipe)
    found = open_new(folder / "new.csv", recipe, used=np.array([2, 3]), fill=np.zeros(4))
    assert found.X.shape == (3, 4)
    filled = open_table(folder / "t.csv", Choices("y", use=("a",))).recipe
    with pytest.warns(UserWarning, match="2 missing values are filled with the mean"):
        open_new(folder / "new.csv", filled)
    (folder / "new.csv").write_text("sex,b\nf,1\n")
    with pytest.warns(UserWarning, match="the table lacks 'a', filled as missing values are"):
        assert np.isnan(open_new(folder / "new.csv", filled).X[0, 0])
    (folder / "new.csv").write_text("other\n1\n")
    with pytest.raises(ValueError, match="lacks 'a', 'b', 'sex', which the model uses"):
        open_new(folder / "new.csv", filled)


def test_a_missing_category_is_a_level_of_its_own_if_the_fit_had_some(numbers):
    _, _, folder = numbers
    rows = [f"{(7 * i) % 5}.5,{['f', 'm', ''][i % 3]},x,{i * i}" for i in range(12)]
    (folder / "t.csv").write_text("\n".join(["a,sex,unit,y", *rows]))
    table = open_table(folder / "t.csv", Choices("y"))
    assert table.names == ("a", "sex=f", "sex=m", "sex=(missing)")
    assert any("'unit' (constant: the same in every row)" in note.text for note in table.notes)
    (folder / "new.csv").write_text("a,sex,unit\n1,,x\n2,f,x\n")
    assert open_new(folder / "new.csv", table.recipe).X.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0]]


def test_a_fingerprint_changes_with_the_content(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    first = fingerprint(path)
    assert first == fingerprint(path)
    path.write_text("a\n2\n")
    assert fingerprint(path) != first
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "part").write_text("1")
    before = fingerprint(folder)
    (folder / "part").write_text("2")
    assert fingerprint(folder) != before
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_table(tmp_path / "none.csv", Choices("y"))
