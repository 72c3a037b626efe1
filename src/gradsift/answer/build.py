"""From a fitted model and its table to an answer.

findings of the model              ->  claims: variables, a confidence, perhaps a partner
one additive model of all of them  ->  effects
support and directions             ->  what the model predicts with
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gradsift._run.threads import same_bits
from gradsift.answer.answer import Answer
from gradsift.answer.effects import (
    EffectModel,
    EffectSample,
    Variable,
    fit_effects,
    on_all_outcomes,
    own_effects,
    pair_effects,
)
from gradsift.answer.results import (
    MOST_SHOWN,
    Direction,
    Effect,
    Finding,
    Member,
    RiskGroup,
)
from gradsift.answer.words import MOST_NAMED, join
from gradsift.data.arrays import refuse_lazy
from gradsift.data.formats.registry import open_source
from gradsift.data.responses import check_all_known, to_floats
from gradsift.data.row_groups import constant_in_groups, group_codes, group_means
from gradsift.data.scaling import fill_missing
from gradsift.inference.findings import CLEAR
from gradsift.numerics.sampling import evenly_spaced
from gradsift.protocols import Array, IntArray, Source
from gradsift.responses import (
    Counts,
    Labels,
    Likelihood,
    Numbers,
    Ordinal,
    Response,
    Survival,
)
from gradsift.responses.survival import RiskSets, survival_records

NEAR_COPY = 0.9
"""Correlation from which a selected column outside of a set stands for it."""
MOST_ROWS = 2_000
"""Rows that the additive model is fitted to."""
ROWS_PER_VARIABLE, MOST_FURTHER, MOST_FINDINGS = 5, 10, 30
"""Selected variables that are in no finding join the additive model, at most so many, while it has
enough rows for each of its variables. Of models without confidence, so many variables are shown.
"""
KINDS: dict[str, type[Likelihood]] = {
    "BaselineHazard": Survival,
    "LogMean": Counts,
    "Cuts": Ordinal,
}
"""The response behind the link of a fitted model."""
MOST_STEPS = 60
"""Steps of a Kaplan-Meier curve."""
MOST_WEIGHTS, LEAST_WEIGHT = 8, 0.05
"""Weights of a direction that are shown, and the smallest of them."""


@dataclass(frozen=True)
class Claim:
    """A finding of the model, about variables."""

    keys: tuple[int, ...]
    weights: tuple[float | None, ...]
    confidence: float | None
    partner: int | None = None


@dataclass(eq=False)
class Columns:
    """The variables behind the columns of a model.

    A variable is called by the number of its first column in the table that the model was fitted
    to. Categories are one variable: columns of a frame, or groups of 0/1 columns.
    """

    source: Source
    fill: Array
    encoder: Any
    names: Sequence[str] | None
    feature_groups: Sequence[str] | None
    levels: Mapping[str, Sequence[str]]
    rows: IntArray
    groups: IntArray | None

    def __post_init__(self) -> None:
        self._known: dict[int, Variable] = {}
        self._first: dict[str, list[int]] = {}
        for k, label in enumerate(self.feature_groups or ()):
            self._first.setdefault(label, []).append(k)

    def name(self, k: int) -> str:
        """What a column of the table is called."""
        if self.encoder is not None:
            return str(self.encoder.columns[k].name)
        return f"x{k}" if self.names is None else str(self.names[k])

    def key(self, k: int) -> int:
        """The variable of a column."""
        if self.encoder is not None or self.feature_groups is None:
            return k
        together = self._first[self.feature_groups[k]]
        return together[0] if len(together) > 1 and self.variable(together[0]).categories else k

    def keys(self, columns: Sequence[int] | IntArray) -> list[int]:
        """The variables of some columns, each once."""
        return list(dict.fromkeys(self.key(int(k)) for k in columns))

    def variable(self, k: int) -> Variable:
        """The values of a variable, at the rows that effects are estimated from."""
        if k not in self._known:
            self._known[k] = self._read(k)
        return self._known[k]

    def _read(self, k: int) -> Variable:
        if self.encoder is not None:
            column = self.encoder.columns[k]
            own = np.flatnonzero(self.encoder.origins == k)[: max(len(column.categories), 1)]
            return self._named(column.name, self._values(own), column.categories)
        if self.feature_groups is not None:
            label = self.feature_groups[k]
            together = self._first[label]
            values = self._values(np.array(together)) if len(together) > 1 else None
            if values is not None and is_one_hot(values) and together[0] == k:
                levels = tuple(self.name(j).removeprefix(f"{label}=") for j in together)
                return as_variable(label, values, levels)
        return self._named(self.name(k), self._values(np.array([k])), ())

    def _named(self, name: str, values: Array, categories: tuple[str, ...]) -> Variable:
        """Numbers, categories, or ordered categories, whose number says which it is."""
        levels = tuple(self.levels.get(name, ()))
        if not levels:
            return as_variable(name, values, categories) if categories else Variable(name, values)
        nearest = np.rint(values[:, :1])  # a filled value lies between two of them
        return as_variable(name, (nearest == np.arange(len(levels))).astype(float), levels)

    def _values(self, columns: IntArray) -> Array:
        values = fill_missing(
            np.asarray(self.source.columns(columns), dtype=float), self.fill[columns]
        )
        if self.groups is not None:
            return group_means(self.groups, None, values)
        return values[self.rows]


def is_one_hot(values: Array) -> bool:
    """Whether columns hold 0 and 1, at most one 1 in each row."""
    return bool(np.isin(values, (0.0, 1.0)).all() and (values.sum(axis=1) <= 1.0).all())


def as_variable(name: str, values: Array, levels: tuple[str, ...]) -> Variable:
    """Categories, those without a row left out, rows of none as one more."""
    none = 1.0 - values.sum(axis=1, keepdims=True)
    if (np.abs(none) > 1e-9).any():
        values, levels = np.hstack([values, none]), (*levels, "(none)")
    there = np.flatnonzero(values.any(axis=0))
    if len(there) < 2:
        return Variable(name, values[:, :1])
    return Variable(name, values[:, there], tuple(levels[k] for k in there))


@same_bits
def explain(
    model: BaseEstimator,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    feature_groups: Sequence[str] | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    target: str | Sequence[str] | None = None,
    **fit_params: Any,
) -> Answer:
    """What a fitted model found: which variables, how sure that is, and what each of them does.

    Parameters
    ----------
    model : fitted estimator
        `GradientSift*` with ``inference=True`` for findings with a confidence. Of other models, the
        selected variables are described.
    X : (n, p) array, data frame or source
        The table of the fit, or other rows of the same columns: effects are estimated from them.
    y : (n,) array, or any other form that `fit` takes
    names : sequence of str, optional
        Names of the columns; None = as the model knows them.
    feature_groups : sequence of str, optional
        The variable behind each column; None = as the model knows them.
    levels : mapping of str to sequence of str, optional
        What the numbers 0, 1, ... of columns of ordered categories stand for; None = as the model
        knows them.
    target : str or sequence of str, optional
        What the response is called; each of several outcomes. None = the name of a series, or y.
    **fit_params
        What else `fit` was given, of these rows: `sample_weight`, `groups`, `covariates`, `offset`;
        `exposure` of counts; `event`, `entry` and `strata` of survival times.

    Returns
    -------
    answer : Answer
        `print` shows it as text; `to_html`, `to_frame` and `to_dict` give other forms.

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor, explain
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 20))
    >>> y = 2 * X[:, 3] + X[:, 7] ** 2 + 0.5 * rng.normal(size=150)
    >>> model = GradientSiftRegressor(inference=True).fit(X, y)
    >>> for finding in explain(model, X, y).findings:
    ...     print(finding.name, finding.certainty, finding.effect.comparisons[0].shape)
    x3 clear rises
    x7 clear U-shaped
    """
    refuse_lazy(X)
    encoder = getattr(model, "encoder_", None)
    if isinstance(X, Source):
        source = X
    elif encoder is not None:
        source = open_source(encoder.encode(X))
    else:
        frame = hasattr(X, "columns") or isinstance(X, list)
        source = open_source(to_floats(X, "X") if frame else X)
    sample = sample_of(model, source.shape[0], y, **fit_params)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    groups_of = feature_groups or getattr(model, "feature_groups_", None)
    if target is None:
        target = response_name(y)
    return make_answer(
        model, source, sample, names=names, feature_groups=groups_of, levels=levels, target=target
    )


def response_name(y: Any) -> str:
    """The name of a series; else y."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def sample_of(
    model: Any,
    n: int,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    covariates: Any = None,
    offset: Any = None,
    exposure: Any = None,
    event: Any = None,
    entry: Any = None,
    strata: Any = None,
) -> EffectSample:
    """The n rows of a model's response, and what belongs to them."""
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    link, classes = getattr(model, "link_", None), getattr(model, "classes_", None)
    response: Response
    if link is not None:
        kind = KINDS[type(link).__name__]
        records = kind.records(y) if event is None else survival_records(y, event, entry, strata)
        response = kind.of(np.ravel(check_all_known(y)) if records is None else records, weight)
    elif classes is not None:
        labels = np.ravel(check_all_known(y))
        codes = np.where(labels[:, None] == classes, np.arange(len(classes)), -1).max(axis=1)
        response = Labels(codes, classes)
    else:
        several = Numbers.records(y) if hasattr(model, "outcome_names_") else None
        values = np.ravel(check_all_known(y)) if several is None else several
        response = Numbers(np.asarray(values, dtype=float))
    if len(response.values) != n:
        raise ValueError(f"X has {n} rows and y has {len(response.values)}.")
    part = 0.0 if offset is None else np.asarray(offset, dtype=float)
    part = part if exposure is None else part + np.log(np.asarray(exposure, dtype=float))
    if np.ndim(part):
        response = response.given(np.reshape(part, (n, -1)))
    known = getattr(model, "covariates_", None)
    return EffectSample(
        response,
        weight,
        None if groups is None else group_codes(groups, n),
        None if known is None or covariates is None else known.encode(covariates),
    )


def make_answer(
    model: BaseEstimator,
    source: Source,
    sample: EffectSample,
    *,
    names: Sequence[str] | None,
    feature_groups: Sequence[str] | None,
    levels: Mapping[str, Sequence[str]] | None = None,
    target: str | Sequence[str] = "y",
) -> Answer:
    """The answer of a model, from encoded columns and a checked sample."""
    encoder = getattr(model, "encoder_", None)
    if levels is None:
        levels = {} if encoder is None else encoder.ordered
    y = np.asarray(sample.response.values)
    means = sample.groups is not None and constant_in_groups(y, sample.groups)
    columns = Columns(
        source=source,
        fill=np.nan_to_num(model.mean_) if hasattr(model, "mean_") else np.zeros(source.shape[1]),
        encoder=encoder,
        names=names,
        feature_groups=feature_groups,
        levels=levels,
        rows=evenly_spaced(len(y), MOST_ROWS),
        groups=sample.groups if means else None,
    )
    few = independent(sample) if means else sample.take(columns.rows)
    selected = columns.keys(best_selected(model))
    kept = columns.keys(kept_columns(model))
    claims = claims_of(model, columns, [k for k in selected if k not in kept])
    shown = list(dict.fromkeys(k for c in claims for k in shown_keys(c)))
    rest = [k for k in selected if k not in {j for c in claims for j in c.keys} | {*shown, *kept}]
    room = max(len(few.response.values) // ROWS_PER_VARIABLE - len(shown) - len(kept), 0)
    inside = [*shown, *(k for k in kept if k not in shown), *rest[: min(room, MOST_FURTHER)]]
    pairs = [(c.keys[0], c.partner) for c in claims if c.partner is not None]
    outcomes = outcome_names(model, sample, target) if y.ndim > 1 else ()
    each = few.each(outcomes)
    joint = [fit_effects({k: columns.variable(k) for k in inside}, pairs, one) for one in each]
    findings = [described(c, joint, columns, selected) for c in claims]
    adjusted = mostly_clear(findings)
    findings = [
        by_itself(f, c, columns, each, always=not adjusted) for f, c in zip(findings, claims)
    ]
    covariates = () if getattr(model, "covariates_", None) is None else model.covariates_.names
    return Answer(
        target=join(outcomes, MOST_NAMED) if outcomes else str(target),
        classes=class_names(sample),
        rows=len(y),
        variables=count_variables(model, columns, kept),
        findings=tuple(in_order(findings)),
        selected=tuple(columns.variable(k).name for k in selected if k not in kept),
        adjusted_for=(*covariates, *(columns.variable(k).name for k in kept)),
        adjusted=adjusted,
        directions=directions_of(model, columns),
        risk_groups=risk_groups(few.response, joint[0].fit.fitted[:, 0], few.weight),
        outcomes=outcomes,
    )


def outcome_names(
    model: BaseEstimator, sample: EffectSample, target: str | Sequence[str]
) -> tuple[str, ...]:
    """Names of several outcomes: as given, as the model knows them, or numbered."""
    count = sample.response.values.shape[1]
    known = getattr(model, "outcome_names_", None)
    if isinstance(target, str):
        target = known or [f"{target}{j}" for j in range(count)]
    if len(target) != count:
        raise ValueError(f"y has {count} outcomes, and there are {len(target)} names of them.")
    return tuple(map(str, target))


def class_names(sample: EffectSample) -> tuple[str, ...]:
    """Names of the classes, also of ordered ones; empty for numbers."""
    classes = getattr(sample.response, "classes", None)
    return () if classes is None else tuple(map(str, classes))


def independent(sample: EffectSample) -> EffectSample:
    """One row for each group of rows, whose response is one value."""
    assert sample.groups is not None
    first = np.unique(sample.groups, return_index=True)[1]
    C = sample.covariates
    one = replace(sample, weight=None, groups=None, covariates=None).take(first)
    return replace(one, covariates=None if C is None else group_means(sample.groups, None, C))


def risk_groups(response: Any, risk: Array, weight: Array | None) -> tuple[RiskGroup, ...]:
    """Kaplan-Meier curves of thirds of the rows by their risk, of survival times."""
    if not isinstance(response, Survival) or not np.ptp(risk) > 0:
        return ()
    y, weight = response.y, np.ones(len(risk)) if weight is None else weight
    step = 10.0 ** np.floor(np.log10(y["time"].max()))
    step = max(s * step for s in (0.1, 0.2, 0.25, 0.5, 1.0) if y["time"].max() >= 3 * s * step)
    ticks = np.arange(0.0, y["time"].max() + step / 2, step)
    third = np.searchsorted(np.quantile(risk, [1 / 3, 2 / 3]), risk)
    out = []
    for k, label in enumerate(("lowest third of risk", "middle third", "highest third of risk")):
        sets = RiskSets.of(np.flatnonzero(third == k), y, weight)
        own = weight[sets.rows]
        share = np.cumprod(1.0 - sets.of_events(own) / sets.at_risk(own))
        some = evenly_spaced(len(share), MOST_STEPS)
        steps = [(0.0, 1.0), *zip(sets.times[some].tolist(), share[some].tolist())]
        y_own = y[sets.rows]
        left = [int(((y_own["entry"] <= t) & (y_own["time"] >= t)).sum()) for t in ticks]
        out.append(RiskGroup(label, tuple(steps), tuple(zip(ticks.tolist(), left))))
    return tuple(out)


# ---- what the model says


def best_selected(model: BaseEstimator) -> IntArray:
    """Selected columns, best ranked first."""
    support = model.get_support(indices=True)
    return np.asarray(support[np.argsort(model.ranking_[support], kind="stable")])


def kept_columns(model: BaseEstimator) -> list[int]:
    """Columns that were selected because that was asked for."""
    asked = getattr(model, "always_keep", None)
    if asked is None:
        penalties = getattr(model, "penalties", None)
        factor = getattr(penalties, "penalty_factor", None)
        return [] if factor is None else np.flatnonzero(np.asarray(factor) == 0.0).tolist()
    values = np.asarray(asked)
    if values.dtype.kind == "b":
        return np.flatnonzero(values).tolist()
    if values.dtype.kind in "OU":
        place = {str(name): k for k, name in enumerate(model.feature_names_in_)}
        return [place[str(name)] for name in values]
    return [int(k) % model.n_features_in_ for k in values]


def count_variables(model: BaseEstimator, columns: Columns, kept: Sequence[int]) -> int:
    """Variables there were to choose from: not those kept, nor columns that never change."""
    p, scale = model.n_features_in_, getattr(model, "scale_", None)
    if columns.encoder is not None or scale is None:
        return p - len(kept)
    varies = np.isfinite(scale)
    if not varies.any():
        varies[:] = True
    if columns.feature_groups is None:
        return int(varies.sum()) - len(kept)
    labels = {columns.feature_groups[k] for k in np.flatnonzero(varies).tolist()}
    return len(labels) - len(kept)


def claims_of(model: BaseEstimator, columns: Columns, selected: Sequence[int]) -> list[Claim]:
    """Findings of the model, one for each set of variables and each pair; of a model without
    findings, the selected products and variables.
    """
    found = getattr(model, "findings_", None)
    claims: list[Claim] = []
    if found is None:
        for pair in getattr(model, "interactions_", ()):
            first, *second = columns.keys([pair.first, pair.second])
            claim = Claim((first,), (None,), None, *second)
            if second and not any(same_claim(claim, known) for known in claims):
                claims.append(claim)
        return [*claims, *(Claim((k,), (None,), None) for k in selected)][:MOST_FINDINGS]
    for f in found:
        sums: dict[int, float] = {}
        for k, weight in zip(f.columns.tolist(), f.members.tolist()):
            sums[columns.key(k)] = sums.get(columns.key(k), 0.0) + weight
        keys = sorted(sums, key=lambda k: -sums[k])
        partners = [k for k in columns.keys(f.partners) if k not in keys]
        claim = Claim(
            tuple(keys),
            tuple(min(sums[k], f.confidence) for k in keys),
            float(f.confidence),
            partners[0] if partners else None,
        )
        if not any(same_claim(claim, known) for known in claims):
            claims.append(claim)
    return [with_curve_first(c, columns) for c in claims]


def same_claim(claim: Claim, known: Claim) -> bool:
    """Whether a claim says no more than one that is more certain: the other side of a pair, or
    another level of a category.
    """
    if claim.partner is None or known.partner is None:
        return claim.partner is None and known.partner is None and claim.keys[0] in known.keys
    return claim.partner in known.keys and known.partner in claim.keys


def with_curve_first(claim: Claim, columns: Columns) -> Claim:
    """A pair with numbers first and categories as their partner."""
    if claim.partner is None:
        return claim
    first, second = columns.variable(claim.keys[0]), columns.variable(claim.partner)
    if first.is_curve or not second.is_curve:
        return claim
    return Claim((claim.partner,), (claim.confidence,), claim.confidence, claim.keys[0])


def shown_keys(claim: Claim) -> list[int]:
    """Variables whose effect is shown: the most probable one, and its partner."""
    return [claim.keys[0], *(() if claim.partner is None else (claim.partner,))]


def directions_of(model: BaseEstimator, columns: Columns) -> tuple[Direction, ...]:
    """The directions, with the names of encoded columns."""
    components = np.asarray(getattr(model, "components_", np.zeros((0, 1))))
    values = np.asarray(getattr(model, "eigenvalues_", np.zeros(0)), dtype=float)
    total = float(values.sum()) or 1.0
    encoded = None if columns.encoder is None else columns.encoder.names
    out = []
    for row, value in zip(components, values):
        order = np.argsort(-np.abs(row), kind="stable")[:MOST_WEIGHTS]
        order = order[np.abs(row[order]) > LEAST_WEIGHT * np.abs(row).max(initial=0.0)]
        named = ((columns.name(k) if encoded is None else encoded[k], float(row[k])) for k in order)
        out.append(Direction(float(value) / total, tuple(named)))
    return tuple(out)


# ---- findings


def described(
    claim: Claim, joint: Sequence[EffectModel], columns: Columns, selected: Sequence[int]
) -> Finding:
    """A claim with its effects given all others, by the model of each outcome."""
    first, partner = claim.keys[0], claim.partner
    if partner is None:
        effects = on_all_outcomes(joint, lambda model: own_effects(model, first))
    else:
        effects = on_all_outcomes(joint, lambda model: pair_effects(model, first, partner))
    used = predicts_with(claim, columns, selected)
    return Finding(
        members=tuple(
            Member(columns.variable(k).name, w) for k, w in zip(claim.keys, claim.weights)
        ),
        confidence=claim.confidence,
        effect=effects[0],
        others=tuple(effects[1:]),
        partner="" if claim.partner is None else columns.variable(claim.partner).name,
        used="" if used is None else columns.variable(used).name,
    )


def predicts_with(claim: Claim, columns: Columns, selected: Sequence[int]) -> int | None:
    """The selected variable that represents a claim: a member, or a near-copy of the first."""
    inside = [k for k in (*claim.keys, *shown_keys(claim)) if k in selected]
    if inside:
        return inside[0]
    x = columns.variable(claim.keys[0]).values[:, 0]
    r = {k: correlation(x, columns.variable(k).values[:, 0]) for k in selected}
    best = max(r, key=lambda k: r[k], default=None)
    return best if best is not None and r[best] >= NEAR_COPY else None


def correlation(x: Array, z: Array) -> float:
    """Absolute correlation of two columns; 0 where one never changes."""
    x, z = x - x.mean(), z - z.mean()
    size = float(np.linalg.norm(x) * np.linalg.norm(z))
    return abs(float(x @ z)) / size if size > 0 else 0.0


def is_sure(f: Finding) -> bool:
    return f.confidence is None or f.confidence >= CLEAR


def mostly_clear(findings: Sequence[Finding]) -> bool:
    """Whether effects given the others are clear for half of the clear findings or more.

    Where classes are far apart they are not: many sets of variables separate them as well.
    """
    single = [f for f in findings if is_sure(f) and not f.partner]
    return 2 * sum(not f.effect.is_clear for f in single) <= len(single)


def by_itself(
    f: Finding, claim: Claim, columns: Columns, samples: Sequence[EffectSample], *, always: bool
) -> Finding:
    """The finding with its effect alone: `always`, or where it is not clear given the others."""
    if f.partner or not (always or (is_sure(f) and not f.effect.is_clear)):
        return f
    key = claim.keys[0]
    alone = [fit_effects({key: columns.variable(key)}, [], sample) for sample in samples]
    effects: list[Effect] = on_all_outcomes(alone, lambda model: own_effects(model, key))
    if not (always or effects[0].is_clear):
        return f
    return replace(f, effect=effects[0], others=tuple(effects[1:]), alone=True)


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """By confidence, then size; a variable that also acts in a clear pair is below it."""

    def rank(f: Finding) -> tuple[float, float]:
        shown = 1.0 if (f.confidence or 0.0) > MOST_SHOWN else round(f.confidence or 0.0, 2)
        return (-shown, -f.effect.largest)

    pairs = [f for f in findings if f.partner and is_sure(f)]
    home: Mapping[str, Finding] = {
        name: pair for pair in reversed(pairs) for name in (pair.members[0].name, pair.partner)
    }
    out: list[Finding] = []
    for f in sorted(findings, key=rank):
        pair = None if f.partner else home.get(f.members[0].name)
        if pair is None:
            out.append(f)
            own = [g for g in findings if not g.partner and home.get(g.members[0].name) is f]
            out += [replace(g, within=f.name) for g in sorted(own, key=rank)]
    return out
