"""Effects as contrasts of the predictions of one additive model.

A prediction *at* a value is the mean prediction over all rows if each of them had this value and
kept its other values: the g-formula (Robins 1986), `avg_comparisons` of R's marginaleffects. The
size of an effect is the mean prediction in the upper quarter of the rows less that in the lower
quarter, or that in the outer quarters less that in the middle half, whichever is larger; of
categories, the highest less the lowest. Of rates and hazards, sizes are ratios of geometric means
in place of differences. The word for the shape is the sign of the same contrast, so that word, size
and interval cannot disagree. Covariances are those of the coefficients (delta method).

References
----------
:cite:`robins-1986`, :cite:`arel-bundock-2024`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import ndtri
from scipy.stats import studentized_range

from gradsift.answer import additive
from gradsift.answer.results import Comparison, Effect, Estimate, Level, Line, Scale, Shape
from gradsift.answer.targets import (
    LikelihoodTarget,
    NumberTarget,
    Target,
    label_target,
    number_target,
)
from gradsift.protocols import Array, IntArray
from gradsift.responses import Labels, Likelihood, Numbers, Response

FEW_VALUES = 6
"""Numbers with at most so many values are shown value by value."""
LEAST_SHARE = 0.05
"""Categories with a smaller part of the rows are shown, and not compared."""
WIDTH = 1.96
"""Rounding: standard errors either side of a 95 % interval."""
GRID, BINS, PER_QUARTER = 41, 24, 5
"""Points of a curve, bins of the rows below it, and values that stand for a quarter of the rows."""
MIDDLE = (0.025, 0.975)
"""Quantiles of the values that a curve is between."""
MOST_LOG = 20.0
"""Largest logarithm of an end of an interval of ratios."""
OUTER = "the outer quarters"


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of the user's table: (n, 1) numbers, or (n, k) of 0 and 1 for k categories."""

    name: str
    values: Array
    categories: tuple[str, ...] = ()

    @property
    def is_curve(self) -> bool:
        """Whether it has a curve: it holds numbers, and more than a few."""
        return not self.categories and len(np.unique(self.values)) > FEW_VALUES


@dataclass(frozen=True, eq=False)
class EffectSample:
    """The rows that effects are estimated from.

    Attributes
    ----------
    response : Numbers, Labels or Likelihood
        Numbers are less their known part.
    weight : (n,) array or None
    groups : (n,) int array or None
    covariates : (n, k) array or None
        Columns that are adjusted for.
    outcome : str
        Which of several outcomes it is.
    count : int
        Number of outcomes: 95 % intervals hold for all of them together (Bonferroni).
    """

    response: Response
    weight: Array | None = None
    groups: IntArray | None = None
    covariates: Array | None = None
    outcome: str = ""
    count: int = 1

    def each(self, outcomes: Sequence[str]) -> list[EffectSample]:
        """The sample of each of several outcomes; itself where there is one response."""
        count = len(outcomes)
        return [
            replace(self, response=Numbers(y), outcome=name, count=count)
            for y, name in zip(self.response.values.T, outcomes)
        ] or [self]

    def take(self, rows: IntArray) -> EffectSample:
        weight, groups, C = self.weight, self.groups, self.covariates
        return replace(
            self,
            response=self.response.take(rows),
            weight=None if weight is None else weight[rows],
            groups=None if groups is None else np.unique(groups[rows], return_inverse=True)[1],
            covariates=None if C is None else C[rows],
        )

    @property
    def target(self) -> Target:
        """What the additive model is about."""
        if isinstance(self.response, Likelihood):
            weight = np.ones(len(self.response.values)) if self.weight is None else self.weight
            return LikelihoodTarget(self.response, weight, self.groups)
        if isinstance(self.response, Labels):
            return label_target(self.response, self.weight, self.groups)
        y = np.asarray(self.response.values, dtype=float)
        return number_target(y, self.weight, self.groups, self.outcome)


@dataclass(frozen=True, eq=False)
class Setting:
    """Values (m, k) that a variable is set to; predictions are averaged over them."""

    label: str
    values: Array
    share: float = float("nan")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Mean predictions (s, outcomes) at s settings, and their slopes in the coefficients
    (s, outcomes, c); of rates and hazards, of their logarithms.
    """

    mean: Array
    slope: Array
    covariance: Array
    scale: Scale

    @property
    def is_ratio(self) -> bool:
        return self.scale in ("rate", "hazard")

    @property
    def no_change(self) -> float:
        """The size of an effect that does nothing."""
        return 1.0 if self.is_ratio else 0.0

    def contrast(self, weights: Array, outcome: int, width: float = WIDTH) -> Estimate:
        """A difference of means, or their ratio, `width` standard errors either side. Weights sum
        to zero.
        """
        most = MOST_LOG if self.is_ratio else np.inf
        if self.scale == "probability":
            most = float(np.abs(weights).sum()) / 2
        return self._estimates(weights[None], outcome, width, (-most, most))[0]

    def means(self, weights: Array, outcome: int) -> list[Estimate]:
        """One mean for each row of weights, of rates and hazards the geometric one."""
        most = MOST_LOG if self.is_ratio else np.inf
        ends = (0.0, 1.0) if self.scale == "probability" else (-most, most)
        return self._estimates(weights, outcome, WIDTH, ends)

    def _estimates(
        self, weights: Array, outcome: int, width: float, ends: tuple[float, float]
    ) -> list[Estimate]:
        mean, slope = weights @ self.mean[:, outcome], weights @ self.slope[:, outcome]
        variance = np.einsum("sc,cd,sd->s", slope, self.covariance, slope, optimize=True)
        error = width * np.sqrt(np.maximum(variance, 0.0))
        three = np.clip([mean, mean - error, mean + error], *ends)
        if self.is_ratio:
            three = np.exp(three)
        return [Estimate(*column) for column in three.T.tolist()]


@dataclass(frozen=True, eq=False)
class EffectModel:
    """The additive model of some variables: the columns of each, and the fit."""

    variables: Mapping[int, Variable]
    where: Mapping[int, list[int]]
    fit: additive.AdditiveFit
    X: Array
    count: int

    @property
    def outcomes(self) -> tuple[str, ...]:
        return self.fit.target.outcomes

    @property
    def scale(self) -> Scale:
        return self.fit.target.scale

    @property
    def unit(self) -> float:
        """What sizes are compared in: the standard deviation of one of several outcomes."""
        target = self.fit.target
        return target.unit if isinstance(target, NumberTarget) and target.outcomes[0] else 1.0

    @cached_property
    def factors(self) -> list[Array]:
        """Factors of each column in products, (n, 3)."""
        columns = zip(self.fit.splines, self.X.T)
        return [additive.factors(additive.clipped(spline, x)) for spline, x in columns]

    def at(self, settings: Sequence[dict[int, Array]]) -> Predictions:
        """Mean predictions over the rows if some variables had given values."""
        fit, D, means, slopes = self.fit, self.fit.design.matrix, [], []
        predicted, beta = fit.target.means(fit.fitted), fit.coefficients
        weight = fit.target.weight / fit.target.weight.sum()
        bent = np.asarray(0.0)
        for values in settings:
            where, columns = self._replaced(values)
            P, bend = predicted(fit.fitted + (columns - D[:, where]) @ beta[where])
            if not np.array_equal(bend, bent):  # of numbers, all bends are the same
                bent, lever = bend, np.einsum("n,ncf->cfn", weight, bend)
                whole = lever @ D
            slope = whole.copy()
            slope[..., where] = lever @ columns
            means.append(weight @ P)
            slopes.append(slope.reshape(P.shape[1], -1))
        mean, slopes_ = np.array(means), np.array(slopes)
        if self.scale == "rate":
            mean, slopes_ = np.log(mean), slopes_ / mean[:, :, None]
        wider = float(ndtri(1.0 - 0.025 / self.count) / ndtri(0.975))  # 1 for one outcome
        return Predictions(mean, slopes_, wider**2 * fit.covariance, self.scale)

    def _replaced(self, values: dict[int, Array]) -> tuple[IntArray, Array]:
        """Columns of the design that given values change, and what they are then, (n, columns)."""
        design, splines, n = self.fit.design, self.fit.splines, len(self.X)
        where, columns, fixed = [], [], {}
        for v, row in values.items():
            for j, value in zip(self.where[v], row[len(row) - len(self.where[v]) :]):
                x = np.array([value])
                block = design.blocks[j]
                where.append(np.arange(block.start, block.stop))
                columns.append(np.repeat(splines[j](x), n, axis=0))
                fixed[j] = np.repeat(additive.factors(additive.clipped(splines[j], x)), n, axis=0)
        for i, (a, b) in enumerate(design.pairs):
            if a in fixed or b in fixed:
                own = slice(additive.PER_PAIR * i, additive.PER_PAIR * (i + 1))
                both = (fixed.get(k, self.factors[k]) for k in (a, b))
                where.append(design.pair_columns(i))
                product = additive.products(*both) - design.centre[own]
                columns.append(product / design.spread[own])
        return np.concatenate(where), np.hstack(columns)


def fit_effects(
    found: Mapping[int, Variable], pairs: Sequence[tuple[int, int]], sample: EffectSample
) -> EffectModel:
    """Fit the additive model of some variables and products of them.

    Categories have a column each but for the most frequent, which the others are compared with.
    """
    columns: list[Array] = []
    variables, where = {}, {}
    for v, variable in found.items():
        if variable.categories:
            order = np.argsort(-variable.values.sum(axis=0), kind="stable")
            named = tuple(variable.categories[k] for k in order)
            variable = Variable(variable.name, variable.values[:, order], named)
        variables[v] = variable
        values = variable.values[:, len(variable.categories[:1]) :]
        where[v] = list(range(len(columns), len(columns) + values.shape[1]))
        columns += list(values.T)
    C = sample.covariates
    lines = [] if C is None else list(C.T)
    n = len(sample.response.values)
    X = np.column_stack([*columns, *lines]) if columns or lines else np.zeros((n, 0))
    both = [(i, j) for a, b in pairs for i, j in product(where[a], where[b])]
    return EffectModel(
        variables, where, additive.fit_additive(X, sample.target, both, len(lines)), X, sample.count
    )


# ---- what a variable is set to


def value_text(value: float) -> str:
    """A value of a variable with three digits.

    Examples
    --------
    >>> value_text(0.12345), value_text(1987.4), value_text(12345.6), value_text(-0.0)
    ('0.123', '1987', '12,346', '0')
    """
    value += 0.0
    if abs(value) < 1000:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) < 10_000 else f"{value:,.0f}"  # years have no comma


def quarters(variable: Variable) -> list[Setting]:
    """The lower quarter, the middle half and the upper quarter of the rows, called by their mean
    values. Where more than three quarters of the rows have one value, such as zero, the others are
    compared with it.
    """
    x = variable.values[:, 0]
    places = (np.arange(4 * PER_QUARTER) + 0.5) / (4 * PER_QUARTER)
    q = np.quantile(x, places, method="nearest")
    low, middle, high = q[:PER_QUARTER], q[PER_QUARTER:-PER_QUARTER], q[-PER_QUARTER:]
    inside = (np.arange(PER_QUARTER) + 0.5) / PER_QUARTER
    above, below = x[x > middle[-1]], x[x < middle[0]]
    if len(np.unique(x)) == 2:
        low, high = x.min(keepdims=True), x.max(keepdims=True)
    elif low[0] == middle[-1] and len(above):
        high = np.quantile(above, inside, method="nearest")
    elif high[-1] == middle[0] and len(below):
        low = np.quantile(below, inside, method="nearest")
    shares = (0.25, 0.5, 0.25)
    return [
        Setting(value_text(float(v.mean())), v[:, None], s)
        for v, s in zip((low, middle, high), shares)
    ]


def settings_of(variable: Variable) -> list[Setting]:
    """What a variable is shown at: its categories or few values, else quarters of the rows."""
    if variable.categories:
        eye, share = np.eye(len(variable.categories)), variable.values.mean(axis=0)
        return [Setting(c, eye[[k]], float(share[k])) for k, c in enumerate(variable.categories)]
    values, counts = np.unique(variable.values[:, 0], return_counts=True)
    if len(values) > FEW_VALUES:
        names = ("lower quarter", "middle half", "upper quarter")
        parts = quarters(variable)
        return [Setting(f"{n}, mean {s.label}", s.values, s.share) for n, s in zip(names, parts)]
    share = counts / counts.sum()
    return [Setting(value_text(v), np.array([[v]]), float(s)) for v, s in zip(values, share)]


def averages(sizes: Sequence[int]) -> Array:
    """Weights (groups, points) that average over the points of each group."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return (owner == np.arange(len(sizes))[:, None]) / np.asarray(sizes)[:, None]


# ---- effects


def on_all_outcomes(
    models: Sequence[EffectModel], effects: Callable[[EffectModel], list[Effect]]
) -> list[Effect]:
    """Effects by the model of each outcome, the largest clear one first."""
    return sorted(
        (e for model in models for e in effects(model)), key=lambda e: (not e.is_clear, -e.largest)
    )


def own_effects(model: EffectModel, v: int) -> list[Effect]:
    """What one variable does to each outcome, the largest clear one first."""
    variable, shown = model.variables[v], settings_of(model.variables[v])
    W = averages([len(s.values) for s in shown])
    found = model.at([{v: r} for s in shown for r in s.values])
    effects = []
    for output, outcome in enumerate(model.outcomes):
        means = found.means(W, output)
        levels = tuple(Level(s.label, m, s.share) for s, m in zip(shown, means))
        if variable.categories:
            one = between_categories(found, W, shown, output)
        else:
            one = rise_or_turn(model, v, output)
        lines = (curve(model, v, output),) if variable.is_curve else ()
        spread = spread_of(variable)
        effects.append(Effect(outcome, (one,), levels, lines, spread, model.scale, model.unit))
    return sorted(effects, key=lambda e: (not e.is_clear, -e.largest))


def between_categories(
    found: Predictions, W: Array, shown: Sequence[Setting], output: int
) -> Comparison:
    """The highest category compared with the lowest. The interval allows for their choice (Tukey);
    categories of few rows are left out.
    """
    means = [m.value for m in found.means(W, output)]
    shares = np.array([s.share for s in shown])
    enough = np.flatnonzero(shares >= min(LEAST_SHARE, np.sort(shares)[-2])).tolist()
    low, high = min(enough, key=lambda k: means[k]), max(enough, key=lambda k: means[k])
    width = float(studentized_range.ppf(0.95, len(enough), np.inf) / np.sqrt(2.0))
    size = found.contrast(W[high] - W[low], output, width)
    shape: Shape = "differs" if size.excludes(found.no_change) else "unclear"
    ends = shown[low].label, shown[high].label, means[low], means[high]
    return Comparison(*ends, size, shape, is_ratio=found.is_ratio)


def rise_or_turn(model: EffectModel, v: int, output: int) -> Comparison:
    """Upper less lower quarter, or both less the middle half, whichever is larger."""
    low, middle, high = quarters(model.variables[v])
    parts = (low, middle, high)
    W = averages([len(s.values) for s in parts])
    found = model.at([{v: r} for s in parts for r in s.values])
    turns = np.array([W[0], W[1], W[2], 0.5 * (W[0] + W[2])])
    first, between, last, outer = (m.value for m in found.means(turns, output))
    turn = found.contrast(0.5 * (W[0] + W[2]) - W[1], output)
    bend: Shape = "U-shaped" if turn.value > found.no_change else "inverted U"
    turned = Comparison(middle.label, OUTER, between, outer, turn, bend, is_ratio=found.is_ratio)
    rise = found.contrast(W[2] - W[0], output)
    word = word_of(rise, found)
    rising = Comparison(low.label, high.label, first, last, rise, word, is_ratio=found.is_ratio)
    return (
        turned if turned.strength > rising.strength and turn.excludes(found.no_change) else rising
    )


def word_of(size: Estimate, found: Predictions) -> Shape:
    """The word for a contrast of two values of a variable."""
    if not size.excludes(found.no_change):
        return "unclear"
    return "rises" if size.value > found.no_change else "falls"


def curve(model: EffectModel, v: int, output: int, held: tuple[int, Setting] | None = None) -> Line:
    """Predictions along the middle of a variable, perhaps at a setting of another."""
    low, high = np.quantile(model.variables[v].values[:, 0], MIDDLE)
    grid, other, label = np.linspace(low, high, GRID), {}, ""
    if held is not None:
        other = {held[0]: held[1].values.mean(axis=0)}
        label = f"{model.variables[held[0]].name} {held[1].label}"
    along = model.at([{v: np.array([g]), **other} for g in grid])
    return Line(label, tuple(grid.tolist()), tuple(along.means(np.eye(GRID), output)))


def spread_of(variable: Variable) -> tuple[float, ...]:
    """How full each bin along the curve is, the fullest 1; empty without a curve."""
    if not variable.is_curve:
        return ()
    x = variable.values[:, 0]
    counts = np.histogram(x, BINS, tuple(np.quantile(x, MIDDLE)))[0]
    return tuple((counts / max(counts.max(), 1)).tolist())


def pair_effects(model: EffectModel, a: int, b: int) -> list[Effect]:
    """The effect of a variable at two values of its partner, on each outcome."""
    starts, ends = zip(ends_of(model, a), ends_of(model, b))
    (a0, b0), (a1, b1) = starts, ends
    corners = [(s, t) for t in (b0, b1) for s in (a0, a1)]
    points = [[{a: r, b: t} for r in s.values for t in q.values] for s, q in corners]
    found = model.at([p for group in points for p in group])
    W = averages([*map(len, points)])
    variable, partner = model.variables[a], model.variables[b]
    effects = []
    for output, outcome in enumerate(model.outcomes):
        means = found.means(W, output)
        levels = tuple(
            Level(f"{s.label}, {partner.name} {t.label}", m) for (s, t), m in zip(corners, means)
        )
        both = []
        for at, first in ((b0, 0), (b1, 2)):
            size = found.contrast(W[first + 1] - W[first], output)
            values = means[first].value, means[first + 1].value
            shape = word_of(size, found)
            shape = "differs" if variable.categories and shape != "unclear" else shape
            given = f"{partner.name} {at.label}"
            both.append(Comparison(a0.label, a1.label, *values, size, shape, given, found.is_ratio))
        lines: tuple[Line, ...] = ()
        if variable.is_curve:
            lines = tuple(curve(model, a, output, (b, end)) for end in (b0, b1))
        spread = spread_of(variable)
        effects.append(Effect(outcome, tuple(both), levels, lines, spread, model.scale, model.unit))
    return sorted(effects, key=lambda e: (not e.is_clear, -e.largest))


def ends_of(model: EffectModel, v: int) -> tuple[Setting, Setting]:
    """The two settings of a variable that its own effect is between."""
    variable = model.variables[v]
    if not variable.categories:
        low, _, high = quarters(variable)
        return low, high
    named = {s.label: s for s in settings_of(variable)}
    (one,) = own_effects(model, v)[0].comparisons
    return named[one.start], named[one.end]
