"""The target from another table: by identifier, in any order, with what did not match."""

import anndata
import numpy as np
import pandas as pd
import pytest
from bed_reader import to_bed

from gradsift.tables import Choices, ReadOptions, open_table

N = 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)).round(3)
Y = {f"s{i}": float(i) + 0.5 for i in range(N)}
SHUFFLED = RNG.permutation(list(Y)).tolist()


def write_table(path, label="sample"):
    rows = "".join(f"s{i},{','.join(map(str, X[i]))}\n" for i in range(N))
    path.write_text(f"{label},a,b,c\n{rows}")
    return path


def write_targets(path, names, header="sample,y", row="{name},{y}"):
    lines = [header, *(row.format(name=name, y=Y.get(name, 99.0)) for name in names)]
    path.write_text("\n".join(lines) + "\n")
    return path


def texts(table):
    return [note.text for note in table.notes]


def test_rows_are_found_in_any_order(tmp_path):
    path = write_table(tmp_path / "x.csv")
    found = open_table(path, Choices("y"), write_targets(tmp_path / "y.csv", SHUFFLED))
    assert found.ids.tolist() == list(Y)
    assert found.y.tolist() == list(Y.values())
    assert "12 of 12 samples were found in y.csv by 'sample'" in texts(found)


def test_what_does_not_match_is_counted_and_named(tmp_path):
    path = write_table(tmp_path / "x.csv")
    targets = write_targets(tmp_path / "y.csv", [*SHUFFLED[2:], "other"], header="who,y")
    found = open_table(path, Choices("y"), targets)
    assert found.ids.tolist() == [name for name in Y if name not in SHUFFLED[:2]]
    assert found.y.tolist() == [Y[name] for name in found.ids]
    lost = sorted(SHUFFLED[:2], key=list(Y).index)
    assert f"2 samples of x.csv are not in y.csv: {lost[0]!r}, {lost[1]!r}" in texts(found)
    assert any("matched no sample" in text for text in texts(found))
    assert "2 rows without 'y'" in texts(found)


def test_no_match_at_all_is_refused(tmp_path):
    path = write_table(tmp_path / "x.csv")
    targets = tmp_path / "y.csv"
    targets.write_text("sample,y\n" + "".join(f"S-{i},{i}\n" for i in range(N)))
    with pytest.raises(ValueError, match=r"no column of y.csv names samples of x.csv: 's0'.*'S-0'"):
        open_table(path, Choices("y"), targets)


def test_identifiers_that_come_twice_are_refused(tmp_path):
    path = write_table(tmp_path / "x.csv")
    targets = write_targets(tmp_path / "y.csv", [*SHUFFLED, "s3"])
    with pytest.raises(ValueError, match=r"y.csv names 's3' more than once in its column 'sample'"):
        open_table(path, Choices("y", id="sample"), targets)


def test_numbers_may_be_identifiers_where_that_is_said(tmp_path):
    (tmp_path / "x.csv").write_text("a,nr\n" + "".join(f"{X[i, 0]},{i}\n" for i in range(N)))
    targets = "nr,y\n" + "".join(f"{i},{i}.5\n" for i in reversed(range(N)))
    (tmp_path / "y.csv").write_text(targets)
    found = open_table(tmp_path / "x.csv", Choices("y", id="nr"), tmp_path / "y.csv")
    assert found.y.tolist() == [i + 0.5 for i in range(N)]


def test_without_identifiers_the_order_counts_and_is_said(tmp_path):
    np.save(tmp_path / "x.npy", X)
    targets = write_targets(tmp_path / "y.csv", Y)
    found = open_table(tmp_path / "x.npy", Choices("y"), targets)
    assert found.y.tolist() == list(Y.values())
    assert any("assumed to be in the same order as those of x.npy" in text for text in texts(found))


def test_genes_in_rows_and_targets_apart(tmp_path):
    rows = "".join(f"{name},{','.join(map(str, X[:, k]))}\n" for k, name in enumerate("abc"))
    (tmp_path / "x.csv").write_text("gene," + ",".join(Y) + "\n" + rows)
    choices = Choices("y", options=ReadOptions(transpose=True))
    found = open_table(tmp_path / "x.csv", choices, write_targets(tmp_path / "y.csv", SHUFFLED))
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == list(Y.values())


def test_genes_in_rows_are_recognised_by_the_names_of_samples(tmp_path):
    names = ["a", "b", "b"]
    rows = "".join(
        f"{name},desc {k},{','.join(map(str, X[:, k]))}\n" for k, name in enumerate(names)
    )
    (tmp_path / "x.csv").write_text("gene,what," + ",".join(Y) + "\n" + rows)
    found = open_table(
        tmp_path / "x.csv", Choices("y"), write_targets(tmp_path / "y.csv", SHUFFLED, "who,y")
    )
    np.testing.assert_array_equal(found.X, X)
    assert found.names == ("desc 0", "desc 1", "desc 2") or found.names == ("a", "b", "b.2")
    assert found.y.tolist() == list(Y.values())
    assert any("variables are in rows, 12 samples in columns" in text for text in texts(found))


def test_the_pair_of_columns_with_most_values_in_common_is_found(tmp_path):
    """The names stand in the second column here and in the third there, as R writes them."""
    rows = "".join(f"{X[i, 0]},S-{i},{X[i, 1]}\n" for i in range(N))
    (tmp_path / "x.csv").write_text("a,code,b\n" + rows)
    other = "".join(f"{i % 3},{Y[name]},s.{name[1:]}\n" for i, name in enumerate(SHUFFLED))
    (tmp_path / "y.csv").write_text("batch,y,label\n" + other)
    found = open_table(tmp_path / "x.csv", Choices("y"), tmp_path / "y.csv")
    assert found.y.tolist() == list(Y.values())
    assert "12 of 12 samples were found in y.csv by 'code' and 'label'" in texts(found)
    asked = open_table(tmp_path / "x.csv", Choices("y", by="code=label"), tmp_path / "y.csv")
    assert asked.y.tolist() == list(Y.values())


def write_bed(folder, families=None):
    path = folder / "x.bed"
    to_bed(path, RNG.binomial(2, 0.5, size=(N, 6)).astype(float))
    families = families or ["0"] * N
    fam = "".join(
        f"{families[i]} s{i % 6 if len(set(families)) > 1 else i} 0 0 1 -9\n" for i in range(N)
    )
    path.with_suffix(".fam").write_text(fam)
    return path


def test_phenotypes_are_found_by_iid_and_codes_of_plink_are_missing(tmp_path):
    path = write_bed(tmp_path)
    lines = [f"0 {name} {'-9' if name == 's4' else Y[name]}" for name in SHUFFLED]
    (tmp_path / "x.phen").write_text("\n".join(["FID IID bmi", *lines]) + "\n")
    found = open_table(path, Choices("bmi"), tmp_path / "x.phen")
    expected = [name for name in Y if name != "s4"]
    assert found.ids.tolist() == expected
    assert found.y.tolist() == [Y[name] for name in expected]
    assert any("1 value of 'bmi' read as missing: PLINK's codes" in text for text in texts(found))
    assert "1 row without 'bmi'" in texts(found)


def test_names_within_families_are_told_apart(tmp_path):
    families = ["f1"] * 6 + ["f2"] * 6
    path = write_bed(tmp_path, families)
    rows = [f"{families[i]}\ts{i % 6}\t{i}.5" for i in reversed(range(N))]
    (tmp_path / "x.psam").write_text("\n".join(["#FID\tIID\tbmi", *rows]) + "\n")
    found = open_table(path, Choices("bmi"), tmp_path / "x.psam")
    assert found.y.tolist() == [i + 0.5 for i in range(N)]


def test_cases_and_controls_of_plink(tmp_path):
    """0 beside 1 and 2 is missing, in a table of PLINK's own too."""
    status = [0, -9, *([1, 2] * 5)]
    rows = "".join(f"0 s{i} {X[i, 0]} {status[i]}\n" for i in range(N))
    (tmp_path / "x.txt").write_text("FID IID snp status\n" + rows)
    found = open_table(tmp_path / "x.txt", Choices("status", id="IID", drop=("FID",)))
    assert found.y.tolist() == [1, 2] * 5
    assert any(
        "2 values of 'status' read as missing: PLINK's codes" in text for text in texts(found)
    )


@pytest.mark.parametrize("holes", [None, np.nan, "nan", "NA", ""])
def test_unlabelled_cells_of_an_h5ad_are_left_out(tmp_path, holes):
    labels = pd.Series(["T", "B"] * 6, dtype=object)
    labels[[1, 7]] = holes
    obs = pd.DataFrame({"type": pd.Categorical(labels)})
    obs.index = [f"s{i}" for i in range(N)]
    anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=list("abc"))).write_h5ad(tmp_path / "x.h5ad")
    found = open_table(tmp_path / "x.h5ad", Choices("type"))
    assert set(found.y) == {"T", "B"}
    assert "2 rows without 'type'" in texts(found)
    assert found.ids.tolist() == [f"s{i}" for i in range(N) if i not in (1, 7)]


def test_targets_of_an_h5ad_are_found_by_the_names_of_its_cells(tmp_path):
    obs = pd.DataFrame(index=list(Y))
    anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=list("abc"))).write_h5ad(tmp_path / "x.h5ad")
    found = open_table(
        tmp_path / "x.h5ad", Choices("y"), write_targets(tmp_path / "y.csv", SHUFFLED)
    )
    assert found.y.tolist() == list(Y.values())
