"""Every public name explains itself: all parameters named, an example that runs."""

import doctest
import inspect
import re

import numpy as np
import pytest

import gradsift

PUBLIC = {name: getattr(gradsift, name) for name in gradsift.__all__}
ESTIMATORS = {k: v for k, v in PUBLIC.items() if hasattr(v, "fit")}
FUNCTIONS = {k: v for k, v in PUBLIC.items() if inspect.isfunction(v)}


def section(doc, title):
    """The body of a numpydoc section, '' if missing."""
    parts = re.split(r"\n([A-Z]\w+)\n-{3,}\n", "\n" + inspect.cleandoc(doc))
    return dict(zip(parts[1::2], parts[2::2])).get(title, "")


def documented(doc):
    """Names at the left margin of the Parameters section, also 'a, b, c' in one line."""
    lines = [x for x in section(doc, "Parameters").splitlines() if x and not x[0].isspace()]
    names = [n.strip(" *") for line in lines for n in line.split(" : ")[0].split(",")]
    return {n for n in names if n}


def parameters(function):
    return {p for p in inspect.signature(function).parameters if p != "self"}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_documented(name):
    thing = PUBLIC[name]
    if not callable(thing):
        pytest.skip("no parameters")
    assert thing.__doc__
    assert parameters(thing) == documented(thing.__doc__)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_methods_are_documented(name):
    for method, function in inspect.getmembers(ESTIMATORS[name], inspect.isfunction):
        if method.startswith("_") or not function.__module__.startswith("gradsift"):
            continue
        assert function.__doc__, f"{name}.{method} has no docstring"
        assert parameters(function) == documented(function.__doc__), f"{name}.{method}"
        assert section(function.__doc__, "Returns"), f"{name}.{method} does not say what it returns"


@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
def test_there_is_a_running_example(name):
    """It has an example with output; --doctest-modules over src checks that it is true."""
    examples = doctest.DocTestParser().get_examples(PUBLIC[name].__doc__)
    assert any(e.want for e in examples)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_are_documented(name):
    """Attributes promised by the docstring exist after a fit."""
    X, y = gradsift_table()
    kind = ESTIMATORS[name]
    model = kind(gradsift.SparseGradientRegressor()) if name == "GradientSelector" else kind()
    if "CV" in name:
        model.set_params(alphas=3, cv=2)
    if "inference" in model.get_params():
        model.set_params(inference=True, false_discovery_rate=0.2)
    if "Survival" in name:
        model.fit(X, np.exp(y), event=np.arange(len(y)) % 3 > 0)
    else:
        model.fit(X, y > 0 if "Classifier" in name else y)
    body = section(kind.__doc__, "Attributes").replace("\\\n", " ")
    lines = [x for x in body.splitlines() if x and not x[0].isspace()]
    names = [n.strip() for line in lines for n in line.split(" : ")[0].split(",")]
    assert names
    fits = [vars(model), *map(vars, other_responses(kind, X, y))]
    for attribute in filter(None, names):
        assert any(attribute in fit or hasattr(model, attribute) for fit in fits), attribute
    fitted = {a for fit in fits for a in fit if a.endswith("_") and not a.startswith("_")}
    hidden = fitted - set(names) - {"n_features_in_", "feature_names_in_", "n_components_"}
    assert not hidden, f"undocumented: {sorted(hidden)}"


def other_responses(kind, X, y):
    """Fits to responses that have attributes of their own."""
    if kind is gradsift.GradientSiftRegressor:
        return [kind().fit(X, np.column_stack([y, X[:, 2]]))]
    if kind is gradsift.GradientSiftClassifier:
        return [kind(ordered=True).fit(X, np.digitize(y, [-1.0, 1.0]))]
    return []


def gradsift_table():
    import numpy as np

    X = np.random.default_rng(0).normal(size=(30, 4))
    return X, X[:, 0] - X[:, 1]
