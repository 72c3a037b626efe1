"""The main job as a user runs it, in a process of its own where that matters."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from gradsift.cli import _select
from gradsift.cli._app import columns_of
from gradsift.cli._exit import run
from gradsift.pipeline import load_model

FILES = [
    "directions.csv", "findings.csv", "manifest.json", "model.gradsift", "projection.csv",
    "report.html", "selected.csv", "summary.json",
]  # fmt: skip
QUICK = ["--cv", "0"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table(folder, rng):
    """60 samples, ten columns, one U-shaped, a sex that matters, an id."""
    X = rng.normal(size=(60, 10))
    sex = rng.choice(["f", "m"], size=60)
    y = X[:, 2] ** 2 + 2 * (sex == "f") + 0.1 * rng.normal(size=60)
    with open("t.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["who", "sex", *(f"g{k}" for k in range(10)), "y"])
        out.writerows([f"s{i}", sex[i], *X[i], y[i]] for i in range(60))
    return folder / "t.csv"


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_one_command_from_file_to_report(table, capsys):
    assert run(["select", "t.csv", "--target", "y"]) == 0
    printed = capsys.readouterr().out
    assert "g2" in printed
    assert "On 5 held-out folds" in printed
    assert len(printed.splitlines()) <= 20
    assert sorted(os.listdir("gradsift-out")) == FILES
    rows = {row["name"]: row for row in read("gradsift-out/selected.csv")}
    assert set(rows) == {"g2", "sex"}  # two columns of sex, one variable
    found = {row["finding"]: row for row in read("gradsift-out/findings.csv")}
    assert found["g2"]["shape"] == "U-shaped"
    assert float(found["g2"]["confidence"]) > 0.99
    assert (found["sex"]["from"], found["sex"]["to"]) == ("m", "f")
    summary = json.loads(Path("gradsift-out/summary.json").read_text())
    assert dict(summary["made"])["data"].startswith("sha256:")
    projection = read("gradsift-out/projection.csv")
    assert projection[0]["row"] == "s0"
    assert summary["headline"] == "sex and g2 go with y."
    assert "sex and g2 go with y." in Path("gradsift-out/report.html").read_text()
    model = load_model(Path("gradsift-out")).model
    chosen = [load_model(Path("gradsift-out")).recipe.names[k] for k in model.get_support(True)]
    assert {"sex=f", "sex=m"} <= set(chosen)  # in or out as a whole


def test_a_longer_list_is_written_where_it_is_asked_for(folder, rng):
    cause = rng.normal(size=(80, 1))
    X = np.hstack([cause + rng.normal(size=(80, 12)), rng.normal(size=(80, 30))])
    y = cause[:, 0] + rng.normal(size=80)
    np.savetxt("t.csv", np.c_[X, y], delimiter=",", comments="",
               header=",".join([*(f"g{k}" for k in range(42)), "y"]))  # fmt: skip
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--associated"]) == 0
    listed = read("gradsift-out/associated.csv")
    assert len(listed) > len(read("gradsift-out/selected.csv"))
    page = Path("gradsift-out/report.html").read_text()
    assert f"{len(listed)} columns are associated one by one" in page


def test_a_second_run_gets_a_folder_of_its_own(table, capsys):
    command = ["select", "t.csv", "--target", "y", *QUICK]
    for folder in ("gradsift-out", "gradsift-out-2", "gradsift-out-3"):
        assert run(command) == 0
        assert f"{folder}/report.html has the pictures" in capsys.readouterr().out
    assert run([*command, "--force"]) == 0
    assert sorted(os.listdir()) == ["gradsift-out", "gradsift-out-2", "gradsift-out-3", "t.csv"]


def test_columns_are_listed_where_no_target_is_given(table, capsys):
    assert run(["select", "t.csv"]) == 1
    said = " ".join(capsys.readouterr().err.replace("│", "").split())
    assert "give the column to explain with --target: " in said
    assert "'y'" in said


def test_the_last_columns_are_listed_too(folder, rng):
    names = [f"g{k}" for k in range(40)]
    rows = "\n".join(",".join(f"{v:.3f}" for v in row) for row in rng.normal(size=(9, 40)))
    Path("t.csv").write_text(f"{','.join(names)}\n{rows}\n")
    said = columns_of(Path("t.csv"))
    assert "'g14', ... 20 more ..., 'g35'," in said
    assert said.endswith("'g39'.")


def test_the_command_for_survival_times_is_shown_where_no_target_is_given(folder, rng):
    times, events = rng.exponential(size=60), rng.integers(0, 2, 60)
    rows = "\n".join(f"{x:.3f},{t:.4f},{d}" for x, t, d in zip(rng.normal(size=60), times, events))
    Path("my t.csv").write_text(f"x,OS time,died\n{rows}\n")
    command = "gradsift select 'my t.csv' --time 'OS time' --event died"
    assert columns_of(Path("my t.csv")).endswith(f"to explain them:\n{command}")
    Path("t.csv").write_text(f"x,OS time,size\n{rows}\n")
    assert "survival" not in columns_of(Path("t.csv"))


def test_a_category_has_one_confidence_and_one_importance(folder, rng):
    levels = rng.choice(["a", "b", "c"], size=150)
    y = np.where(levels == "b", 3.0, 0.0) + rng.normal(size=150)
    rows = "\n".join(f"{k},{x:.4f},{v:.4f}" for k, x, v in zip(levels, rng.normal(size=150), y))
    Path("t.csv").write_text(f"kind,x,y\n{rows}\n")
    assert run(["select", "t.csv", "--target", "y", *QUICK]) == 0
    (row,) = read("gradsift-out/selected.csv")
    (finding,) = read("gradsift-out/findings.csv")
    assert row["name"] == finding["finding"] == "kind"
    assert row["confidence"] == finding["confidence"]


def test_an_existing_folder_is_kept_unless_forced(table, capsys):
    command = ["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]
    assert run(command) == 0
    before = os.stat("o/summary.json").st_ino
    assert run(command) == 2
    assert "--force" in capsys.readouterr().err
    assert os.stat("o/summary.json").st_ino == before
    assert run([*command, "--force"]) == 0
    assert sorted(os.listdir("o")) == FILES
    os.mkdir("mine")
    Path("mine/thesis.txt").touch()
    assert run([*command[:-1], "mine", "--force"]) == 2
    assert os.listdir("mine") == ["thesis.txt"]


def test_lists_of_columns_may_be_given_at_once_or_one_by_one(table):
    command = ["select", "t.csv", "--target", "y", *QUICK]
    given = {"at once": ["--drop", "sex,g2"], "one by one": ["--drop", "sex", "--drop", "g2"]}
    for out, option in given.items():
        assert run([*command, "--out", out, *option]) == 0
        assert load_model(Path(out)).recipe.names == (
            "g0", "g1", "g3", "g4", "g5", "g6", "g7", "g8", "g9",
        )  # fmt: skip


def test_keep_drop_and_max_features(table):
    command = ["select", "t.csv", "--target", "y", *QUICK, "--keep", "g7", "--drop", "sex"]
    assert run([*command, "--max-features", "1"]) == 0
    names = {row["name"] for row in read("gradsift-out/selected.csv")}
    assert names == {"g2"}  # what is kept is no finding, and does not count
    summary = json.loads(Path("gradsift-out/summary.json").read_text())
    assert summary["adjusted_for"] == ["g7"]
    assert load_model(Path("gradsift-out")).model.get_support()[7]


def test_predict_and_report_with_a_saved_model(table):
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]) == 0
    assert run(["predict", "o", "t.csv", "--out", "p.csv"]) == 0
    predicted = [float(row["predicted"]) for row in read("p.csv")]
    recipe = load_model(table.parent / "o").recipe
    assert recipe.target == "y"
    assert np.corrcoef(predicted, [float(r["y"]) for r in read("t.csv")])[0, 1] > 0.9
    places = [float(row["direction1"]) for row in read("p.csv")]
    assert places == [float(row["direction1"]) for row in read("o/projection.csv")]
    assert run(["report", "o", "t.csv", "--out", "r.html"]) == 0
    assert "<!doctype html>" in Path("r.html").read_text()
    assert run(["predict", "o", "t.csv", "--out", "p.csv"]) == 2  # it is there


def test_labels_get_probabilities(folder, rng):
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 1] + X[:, 4] > 0, "high", "low")
    np.savez("t.npz", X=X, y=y)
    assert run(["select", "t.npz", "--target", "y", *QUICK]) == 0
    assert run(["predict", "gradsift-out", "t.npz"]) == 0
    first = read("predictions.csv")[0]
    total = float(first["probability of low"]) + float(first["probability of high"])
    assert total == pytest.approx(1.0, abs=1e-5)
    assert first["predicted"] in ("low", "high")


def test_new_rows_of_one_class_keep_its_name(folder, rng):
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 1] + X[:, 4] > 0, "high", "low")
    np.savez("t.npz", X=X, y=y)
    new = rng.normal(size=(20, 6))
    new[:, [1, 4]] = np.abs(new[:, [1, 4]])
    np.savez("new.npz", X=new, y=np.full(20, "high"))
    assert run(["select", "t.npz", "--target", "y", *QUICK]) == 0
    assert run(["report", "gradsift-out", "new.npz", "--out", "r.html"]) == 0
    page = Path("r.html").read_text()
    assert "On 20 rows that the fit has not seen it predicts with accuracy 1.00" in page


def test_columns_on_disk(folder, rng):
    X = rng.normal(size=(90, 40))
    np.save("X.npy", X.astype(np.float32))
    with open("y.csv", "w") as file:
        file.write("y\n" + "".join(f"{v}\n" for v in X[:, 7] ** 2))
    assert run(["select", "X.npy", "--target", "y", "--target-from", "y.csv"]) == 0
    assert read("gradsift-out/selected.csv")[0]["name"] == "x7"


def test_exit_codes(table, capsys):
    assert run(["select", "t.csv"]) == 1
    assert "--target" in capsys.readouterr().err
    assert run(["select", "t.csv", "--target", "y", "--task", "tree"]) == 1
    assert run(["select", "t.csv", "--target", "z"]) == 2
    assert "no column 'z'" in capsys.readouterr().err
    assert run(["select", "none.csv", "--target", "y"]) == 2
    assert run(["predict", "none", "t.csv"]) == 2
    Path("bad.gradsift").write_text("no model")
    assert run(["predict", "bad.gradsift", "t.csv"]) == 2
    assert "is no model file" in capsys.readouterr().err


def test_help_is_instant():
    script = "from gradsift.cli import main; main()"
    before = os.times()
    subprocess.run([sys.executable, "-c", script, "--help"], check=True, capture_output=True)
    after = os.times()
    taken = after.children_user + after.children_system
    taken -= before.children_user + before.children_system
    loaded = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", script, "--help"], capture_output=True, text=True
    ).stderr
    assert "sklearn" not in loaded
    assert taken < 2.0  # of the processor, so that other work on the machine does not count


def test_a_narrow_terminal_cuts_no_word(folder, rng, monkeypatch, capsys):
    monkeypatch.setattr(_select, "console", Console(highlight=False, markup=False, width=80))
    X = rng.normal(size=(80, 3))
    kind = rng.choice(["Adelie penguin", "Chinstrap penguin", "Gentoo penguin"], size=80)
    y = X[:, 0] + 2 * (kind == "Gentoo penguin") + 0.2 * rng.normal(size=80)
    with open("t.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["Flipper length (mm)", "Culmen depth (mm)", "other", "species", "mass (g)"])
        out.writerows([*row, k, v] for row, k, v in zip(X.tolist(), kind, y))
    assert run(["select", "t.csv", "--target", "mass (g)", *QUICK]) == 0
    printed = capsys.readouterr().out
    assert "Flipper length (mm)" in printed
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_a_narrow_terminal_names_pairs(folder, monkeypatch, capsys, rng):
    monkeypatch.setattr(_select, "console", Console(highlight=False, markup=False, width=80))
    names = ["temp_el_monte", "relative_humidity", "pressure_gradient", "inversion_base_height"]
    X = rng.normal(size=(150, 4))
    y = X[:, 0] + X[:, 1] + 2 * X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=150)
    with open("t.csv", "w") as file:
        print(*names, "y", sep=",", file=file)
        for row, value in zip(X, y):
            print(*row, value, sep=",", file=file)
    assert run(["select", "t.csv", "--target", "y", "--cv", "0"]) == 0
    printed = capsys.readouterr().out
    assert "temp_el_monte × relative_humidity" in printed
    assert max(map(len, printed.splitlines())) <= 80
