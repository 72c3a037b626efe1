"""No file that is not one of our models gets in, or runs anything."""

import io
import json
import pickle
import resource
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from model_cases import RECIPE, model_of

from gradsift.cli._exit import run
from gradsift.pipeline import Training, load_model, save_model
from gradsift.pipeline._model_file import FORMAT


def content_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, change=None, members=None, **kwargs):
    """The good file with its tree changed, or with other members."""
    parts = content_of(path)
    tree = json.loads(parts["model.json"])
    if change is not None:
        tree = change(tree) or tree
        parts["model.json"] = json.dumps(tree).encode()
    parts |= members or {}
    with zipfile.ZipFile(path, "w", **kwargs) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def npy(array, **kwargs):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **kwargs)
    return file.getvalue()


class Bomb:
    def __reduce__(self):
        return eval, ("open('ran', 'w')",)


def skops_with_eval(path):
    """A skops file whose dict has keys of the type builtins.eval."""
    evil = {"__class__": "eval", "__module__": "builtins", "__loader__": "TypeNode", "__id__": 3}
    text = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "__id__": 4}
    keys = {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": [evil],
    }
    schema = {
        "__class__": "dict",
        "__module__": "builtins",
        "__loader__": "DictNode",
        "key_types": keys,
        "content": {"open('ran', 'w')": {**text, "content": '"x"', "is_json": True}},
        "protocol": 2,
        "_skops_version": "0.13.0",
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))


def skops_with_numpy_function(path):
    """A skops file that names a function of numpy's test tools as an object to build."""
    node = {
        "__class__": "runstring",
        "__module__": "numpy.testing",
        "__loader__": "ObjectNode",
        "content": {"content": "open('ran', 'w')"},
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps(node))


def put(tree, where, value):
    """Set an entry deep in the model's tree; each step is a field."""
    node = tree["model"]
    for step in where[:-1]:
        node = node["fields"][step]
    node["fields"][where[-1]] = value


EVAL = {"object": "builtins.eval", "fields": {"source": "open('ran', 'w')"}}
TREES = {
    "eval as an object": lambda t: put(t, ["sift_"], EVAL),
    "a function of numpy": lambda t: put(t, ["sift_"], {"object": "numpy.load", "fields": {}}),
    "eval as a kind": lambda t: put(t, ["sift_"], {"eval": "open('ran', 'w')"}),
    "a reduce": lambda t: put(t, ["sift_"], {"reduce": ["builtins.eval", ["open('ran', 'w')"]]}),
    "keys of a strange type": lambda t: put(t, ["sift_"], {"dict": [[EVAL, 1]]}),
    "keys that cannot be hashed": lambda t: put(t, ["sift_"], {"dict": [[{"list": []}, 1]]}),
    "another class": lambda t: put(t, ["__class__"], "str"),
    "a method overwritten": lambda t: put(t, ["predict"], 1),
    "a private attribute": lambda t: put(t, ["__sklearn_tags__"], 1),
    "an unknown attribute": lambda t: put(t, ["_source"], 1),
    "a field of another type": lambda t: put(t, ["predictor_", "scaling", "mean"], "text"),
    "a field too few": lambda t: t["model"]["fields"]["predictor_"]["fields"].pop("scaling"),
    "no predictor_": lambda t: t["model"]["fields"].pop("predictor_"),
    "an array that is not there": lambda t: put(t, ["mean_"], {"array": 10**6}),
    "a negative array": lambda t: put(t, ["mean_"], {"array": -1}),
    "a list for a value": lambda t: put(t, ["mean_"], [1, 2]),
    "another number of columns": lambda t: put(t, ["n_features_in_"], 10**12),
    "arrays in each other's places": lambda t: put(t, ["components_"], {"array": 0}),
    "a class that is no model": lambda t: t.update(model={"object": "Posterior", "fields": {}}),
    "nested deeply": lambda t: put(t, ["sift_"], nested(400)),
    "an older format": lambda t: t.update(format=1),
    "a newer format": lambda t: t.update(format=FORMAT + 1),
    "another kind": lambda t: t.update(kind="something else"),
    "no model": lambda t: t.pop("model") and None,
    "no recipe": lambda t: t.pop("recipe") and None,
    "a recipe with code": lambda t: t["recipe"].update(target=EVAL),
    "a recipe of other types": lambda t: t["recipe"].update(numbers=3),
    "columns of a file as text": lambda t: t["recipe"].update(stored="all"),
    "more columns of a file than of the model": lambda t: t["recipe"].update(stored={"array": 0}),
    "a recipe with more in it": lambda t: t["recipe"].update(more=3),
    "no tree at all": lambda t: [1, 2, 3],
}


def nested(depth):
    tree = 1
    for _ in range(depth):
        tree = {"list": [tree]}
    return tree


def huge_header():
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 4), }"
    head += b" " * (118 - len(head) - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(64)


def no_width():
    """Half a billion texts of no length: nothing follows the header, 2 GB would."""
    head = b"{'descr': '<U0', 'fortran_order': False, 'shape': (500000000,), }"
    head += b" " * (118 - len(head) - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


MEMBERS = {
    "texts of no length": {"arrays/0.npy": no_width()},
    "JSON of many small lists": {"model.json": b"[" + b"[]," * 3_000_000 + b"[]]"},
    "JSON of many small objects": {"model.json": b"[" + b'{"":0},' * 1_500_000 + b"{}]"},
    "a pickled array": {"arrays/0.npy": npy(np.array([Bomb()], dtype=object))},
    "a pickle for an array": {"arrays/0.npy": pickle.dumps(Bomb())},
    "a huge array": {"arrays/0.npy": huge_header()},
    "a short array": {"arrays/0.npy": npy(np.zeros(100))[:-8]},
    "an array of dates": {"arrays/0.npy": npy(np.array(["2020-01-01"], dtype="M8[D]"))},
    "a path upwards": {"../../evil.py": b"x"},
    "an absolute path": {"/tmp/evil.py": b"x"},
    "one more file": {"evil.py": b"x"},
    "a strange number": {"arrays/01.npy": npy(np.zeros(1))},
    "numbers with a gap": {"arrays/99999.npy": npy(np.zeros(1))},
    "JSON that is none": {"model.json": b"{"},
    "JSON nested deeply": {"model.json": b"[" * 200_000},
    "JSON with a huge number": {"model.json": b'{"format": ' + b"9" * 100_000 + b"}"},
    "JSON in another code": {"model.json": b"\xff\xfe{}"},
}


def rewritten_npz(path):
    with path.open("wb") as file:
        np.savez(file, a=np.zeros(3))


def plain(data):
    return lambda path: path.write_bytes(data)


FILES = {
    "skops with eval": skops_with_eval,
    "skops with a function": skops_with_numpy_function,
    "a pickle": plain(pickle.dumps(Bomb())),
    "text": plain(b"no model"),
    "nothing": plain(b""),
    "an npz": rewritten_npz,
}


def bomb(path):
    """100 MB of zeros in each of ten arrays: a file of 1 MB that would take 1 GB."""
    with zipfile.ZipFile(path, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        start = len(archive.namelist()) - 1
        data = npy(np.zeros(13_000_000))
        for k in range(10):
            archive.writestr(f"arrays/{start + k}.npy", data)


def member_twice(path):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.json", "{}")


def understated(path):
    """The central directory says 8 bytes where the member unpacks to many more."""
    bomb(path)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (8).to_bytes(4, "little")
    path.write_bytes(bytes(data))


def one_more(path):
    """An array with the next number, which the header does not name."""
    number = len(content_of(path)) - 1
    rewritten(path, members={f"arrays/{number}.npy": npy(np.zeros(3))})


CHANGED = {
    "an array that the header does not name": one_more,
    "a bomb": bomb,
    "a bomb that lies about its size": understated,
    "a member twice": member_twice,
    "packed otherwise": lambda path: rewritten(path, compression=zipfile.ZIP_LZMA),
    **{name: lambda p, c=change: rewritten(p, c) for name, change in TREES.items()},
    **{name: lambda p, m=extra: rewritten(p, members=m) for name, extra in MEMBERS.items()},
}

_watched: list[str] = []
WATCHED = (
    "os.system",
    "subprocess.Popen",
    "pickle.find_class",
    "exec",
    "os.exec",
    "os.posix_spawn",
)
_watching = False


def _hook(event, args):
    if _watching and event in WATCHED:
        _watched.append(event)


sys.addaudithook(_hook)


@pytest.fixture(scope="module", autouse=True)
def declared_types(tmp_path_factory):
    """A good file is read first: the types that our own classes declare are then known, and Python
    evaluates nothing while hostile files are read.
    """
    path = tmp_path_factory.mktemp("good") / "model.gradsift"
    save_model(path, model_of("sift"), RECIPE, Training(np.array([0]), np.zeros(3, dtype=np.int64)))
    load_model(path)


def refused(path, monkeypatch):
    """Loading fails with one sentence, runs nothing and takes little memory."""
    global _watching
    monkeypatch.chdir(path.parent)
    before = sorted(p.name for p in path.parent.iterdir())
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _watched.clear()
    _watching = True
    try:
        with pytest.raises(ValueError, match=r"is no model file") as caught:
            load_model(path)
    finally:
        _watching = False
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert _watched == []
    assert sorted(p.name for p in path.parent.iterdir()) == before
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    assert grown < 300 << 10  # ru_maxrss is in kB


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_model_is_refused(name, path, monkeypatch):
    FILES[name](path)
    refused(path, monkeypatch)


@pytest.mark.parametrize("name", CHANGED)
def test_a_hostile_model_is_refused_and_nothing_runs(name, good, monkeypatch):
    CHANGED[name](good)
    refused(good, monkeypatch)


def test_the_hook_would_notice(tmp_path, monkeypatch):
    """The check above can fail: a pickle that is opened shows."""
    global _watching
    monkeypatch.chdir(tmp_path)
    _watched.clear()
    _watching = True
    try:
        pickle.loads(pickle.dumps(Bomb())).close()
    finally:
        _watching = False
    assert "pickle.find_class" in _watched
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("sift", np.nan),
        ("sift with a ridge", np.nan),
        ("sift of labels", np.nan),
        ("sift", np.inf),
    ],
)
def test_arrays_that_are_not_finite_never_predict(name, bad, path):
    """Each array in turn: refused, or none of the numbers that come from the model is changed."""
    model, refusals = model_of(name), 0
    X = np.random.default_rng(0).normal(size=(5, model.n_features_in_))
    save_model(path, model, RECIPE)
    parts = content_of(path)
    for member in parts.keys() - {"model.json"}:
        array = np.load(io.BytesIO(parts[member]))
        constant = bad == np.inf and np.array_equal(array, model.scale_)  # what such a scale means
        if array.dtype.kind != "f" or array.size == 0 or constant:
            continue
        rewritten(path, members=parts | {member: npy(np.full_like(array, bad))})
        try:
            again = load_model(path).model
        except ValueError:
            refusals += 1
            continue
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.gradient(X), model.gradient(X))
    assert refusals >= 5


def test_a_file_cut_anywhere_is_refused(good, monkeypatch):
    data = good.read_bytes()
    for end in np.linspace(0, len(data) - 1, 60).astype(int):
        good.write_bytes(data[:end])
        refused(good, monkeypatch)


def test_a_flipped_bit_is_refused_or_means_nothing(good):
    """Some bits of an archive mean nothing (dates, a version); every other one is noticed."""
    model = load_model(good).model
    X = np.random.default_rng(0).normal(size=(5, model.n_features_in_))
    expected = model.predict(X), model.gradient(X), model.ranking_
    data = good.read_bytes()
    rng, kept = np.random.default_rng(0), 0
    for at, bit in zip(rng.integers(len(data), size=400), rng.integers(8, size=400)):
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit
        good.write_bytes(bytes(flipped))
        try:
            again, recipe, _ = load_model(good)
        except ValueError:
            continue
        kept += 1
        assert recipe == RECIPE
        for found, wanted in zip(
            (again.predict(X), again.gradient(X), again.ranking_), expected, strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
    assert kept < 100


def test_predict_on_a_hostile_model_exits_with_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    skops_with_eval(tmp_path / "evil.skops")
    Path("new.csv").write_text("a,b\n1,2\n")
    assert run(["predict", "evil.skops", "new.csv"]) == 2
    assert "is no model file" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evil.skops", "new.csv"]


@pytest.mark.parametrize(
    "training",
    [
        Training(np.array([999]), np.zeros(3, dtype=np.int64)),
        Training(np.array([-1]), np.zeros(3, dtype=np.int64)),
        Training(np.array([0]), np.zeros(3)),
        Training(np.array([[0]]), np.zeros(3, dtype=np.int64)),
    ],
)
def test_rows_that_do_not_fit_the_model_are_refused(path, training, monkeypatch):
    save_model(path, model_of("sift"), RECIPE, training)
    refused(path, monkeypatch)
