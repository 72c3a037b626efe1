"""How much there is to read does not grow: walks of calls, module cycles, private names, `Any`.

`python -m walks.count --list` in `benchmarks/` prints what is counted here. A limit is lowered when
the count has fallen, and raised with a reason only.
"""

from pathlib import Path

import pytest
from walks import source
from walks.count import own_classes, parameters, public_estimators
from walks.trace import Walk, walk, walks

import gradsift

PACKAGE = Path(gradsift.__file__).parent

# The bars that the limits go down to: fit 42 files, 300 functions, 150 switches, depth 16;
# fit(inference=True) 60 files; select 95 files, 600 functions; cycles 0; private imports and uses
# 0; Any 300; own classes 4; parameters 12 (GradientSift*, SparseGradient*) and 14 (*CV); numbers
# that change answers 120.
WALKS = {
    # tables are encoded, responses of five kinds are checked, and the columns behind the selected
    # ones are put in order, by each fit
    "fit": Walk(files=46, functions=445, switches=243, depth=20),
    # with its answer, which fit(inference=True) keeps since it replaced the report
    "fit(inference=True)": Walk(files=55, functions=572, switches=291, depth=20),
    "predict": Walk(files=12, functions=37, switches=18, depth=10),
    "SparseGradientRegressor().fit": Walk(files=42, functions=266, switches=156, depth=16),
    "findings": Walk(files=32, functions=170, switches=104, depth=13),
    # with roles of columns, several kinds of response, and folds in other processes
    "select": Walk(files=97, functions=929, switches=486, depth=28),
}
CYCLES = 0
PRIVATE_IMPORTS = 0
PRIVATE_USES = 0
ANY = 272
OWN_CLASSES = 4
PARAMETERS = {"GradientSift": 12, "SparseGradient": 12, "CV": 14}
NUMBERS = 115


@pytest.mark.parametrize("name", WALKS)
def test_a_call_walks_no_further_than_its_limit(name):
    found = walks([name])[name]
    too_far = {k: v for k, v in found._asdict().items() if v > getattr(WALKS[name], k)}
    assert too_far == {}


def test_modules_do_not_import_each_other_in_circles():
    assert len(found := source.cycles(PACKAGE)) <= CYCLES, found


def test_private_names_stay_in_their_room():
    assert len(found := source.private_imports(PACKAGE)) <= PRIVATE_IMPORTS, found
    assert len(found := source.private_uses(PACKAGE)) <= PRIVATE_USES, found


def test_signatures_say_what_they_take():
    assert source.any_in_signatures(PACKAGE).total() <= ANY


def test_numbers_that_change_answers_are_few():
    found = [*source.setting_fields(PACKAGE), *source.loose_numbers(PACKAGE)]
    assert len(found) <= NUMBERS


@pytest.mark.parametrize("estimator", public_estimators(), ids=lambda one: one.__name__)
def test_estimators_are_thin(estimator):
    assert len(own_classes(estimator)) <= OWN_CLASSES
    kind = next((k for k in reversed(PARAMETERS) if k in estimator.__name__), "GradientSift")
    assert len(parameters(estimator)) <= PARAMETERS[kind]


@pytest.fixture
def package(tmp_path):
    """A package of three rooms, with one of everything that is counted."""
    files = {
        "__init__": "",
        "low/__init__": "",
        "low/kernels": "def _secret(x: Any) -> list[Any]: ...\nWIDTH = 2.0\n",
        "low/_hidden": "class Held:\n    def _method(self) -> Any: ...\n",
        "sift/__init__": "",
        "sift/a": "from p.sift import b\nA, B = 1, 2\nSLACK = 1e-9\n'''Rounding: of sums.'''\n",
        "sift/b": "def f():\n    from p.sift.a import A\n    return [A for _ in '12']\n",
        "sift/settings": "class SiftSettings:\n    clip: float = 3.0\n    name: str = 'x'\n"
        "    digits: int = 9\n    '''Rounding: of sums.'''\n",
        "high": "from p.low.kernels import _secret\nfrom p.low import _hidden\nx._method()\n",
    }
    for name, text in files.items():
        path = tmp_path / "p" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path / "p"


def test_what_is_counted(package):
    assert source.rooms(package)["sift"] == (12, 4)
    assert source.cycles(package) == [["p.sift.a", "p.sift.b"]]
    assert source.private_imports(package) == [
        "p.high: p.low._hidden",
        "p.high: p.low.kernels._secret",
    ]
    assert source.private_uses(package) == ["p.high:3: x._method"]
    assert source.any_in_signatures(package) == {"low": 2, "sift": 0}
    assert source.setting_fields(package) == ["p.sift.settings.SiftSettings.clip"]
    assert source.loose_numbers(package) == ["p.sift.a.A", "p.sift.a.B"]


def test_a_walk(tmp_path):
    space: dict = {}
    for name, text in {
        "a": "def first():\n    second()\n    third()\n    return [second() for _ in '12']\n",
        "b": "def second():\n    return 1\n",
        "c": "def third():\n    return second()\n",
    }.items():
        exec(compile(text, str(tmp_path / name), "exec"), space)
    assert walk(space["first"], str(tmp_path)) == Walk(files=3, functions=3, switches=2, depth=3)
