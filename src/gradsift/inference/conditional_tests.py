"""Conditional tests: p- and q-values of each column given all others.

Problem: for each of p columns, the null hypothesis that the response (n, q) is independent of x_k
given all other columns. k is also tested together with the columns that could take its place: its
finding (`findings`) where it has one, else its stand-ins, the columns correlated with it by
`stand_in` or more. The null hypothesis of such a set: the response is independent of all of its
columns given the columns outside.

For each candidate k (selected, nearly selected, or among the best of the others), and for B = {k}
and B = that set:

1. The sift is repeated without B. It selects the reduced model, the best model that needs no column
   of B. As in conditional randomisation tests (Candes et al. 2018) and leave-one-covariate-out
   inference (Lei et al. 2018), column k was not used to choose this model, so that its test needs
   no correction for selection.
2. The residual of the reduced model may hold effects too weak to be selected: a random effect.
3. F tests of the linear, quadratic and local features of k given the reduced model, and the best
   product with another column (`score_tests`). The p-value is the smallest of the four, each over
   its share of the level (weighted Bonferroni correction).

If some column or set then has a q-value of at most `gate`, all candidates are tested a second time,
given the reduced model and the other selected columns: less residual variance gives more power.
Without such a q-value the selected columns may be noise, and the first round is the result.

q-values are those of Benjamini and Hochberg (1995) over all columns. Columns that are no candidates
count with p = 1, which can only make q-values larger.

References
----------
:cite:`benjamini-1995`, :cite:`candes-2018`, :cite:`lei-2018`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gradsift._run.passes import each_block
from gradsift.inference.marginal_tests import by_label, q_values
from gradsift.inference.results import ColumnTest, ProductTest, ReducedModel, Significance
from gradsift.inference.score_tests import (
    Relationship,
    Residual,
    best_product,
    product_tests,
    relationship,
    residual_of,
    self_normalised,
    univariate_tests,
)
from gradsift.inference.settings import TESTS, ColumnTestSettings
from gradsift.numerics.statistics import benjamini_hochberg
from gradsift.protocols import Array, IntArray
from gradsift.sift.features import Single, clipped, product_feature
from gradsift.sift.groups import PRODUCT, chi2_log_sf, shares, univariate_log_p
from gradsift.sift.procedure import Sift, SiftFit

PARTS = ("linear", "quadratic", "local", "product")


def correlated(sift: Sift, columns: IntArray, least: float) -> dict[int, frozenset[int]]:
    """For each of some columns, those correlated with it by `least` or more, itself included."""
    rows, settings, source = sift.response.rows, sift.settings, sift.source
    A = sift.table.clipped(columns)
    weight = rows.weights
    weighted = (A * weight[:, None]).T / rows.total
    near: dict[int, set[int]] = {int(k): {int(k)} for k in columns}

    def correlations(X: Array) -> Array:
        return np.asarray(np.abs(weighted @ clipped(X, rows, settings)) >= least)

    for where, close in each_block(source, lambda _: correlations):
        for k, row in zip(columns.tolist(), close, strict=True):
            near[k].update((where.start + np.flatnonzero(row)).tolist())
    return {k: frozenset(v) for k, v in near.items()}


@dataclass(frozen=True)
class ColumnTester:
    """Tests of the columns of one table, given models that do without them.

    Attributes
    ----------
    fit : SiftFit
        The sift of all columns; `fit.without` gives the reduced models.
    codes : (n,) int array or None
        Class numbers of the kept rows; None for numbers.
    X : (n, k) array
        Clipped values of the pooled columns, for products.
    K : Relationship or None
        Relationship of the rows over all columns.
    n_columns : int
        The first columns. Those that follow are covariates, which reduced models do not list.
    settings : ColumnTestSettings
    columns : dict
        A cache of `column`.
    """

    fit: SiftFit
    codes: IntArray | None
    X: Single
    K: Relationship | None
    n_columns: int
    settings: ColumnTestSettings
    columns: dict[int, tuple[Array, Array]] = field(default_factory=dict, repr=False)

    @property
    def sift(self) -> Sift:
        return self.fit.problem

    def column(self, k: int) -> tuple[Array, Array]:
        """Clipped values (n,) of column k, NaN where missing, and its univariate features
        (2 + J, n), rows unscaled.
        """
        if k not in self.columns:
            table, index = self.sift.table, np.array([k])
            made = next(table.features(index, weighted=False))[1]
            self.columns[k] = table.known(index)[:, 0], made[0]
        return self.columns[k]

    def responses(self, model: SiftFit) -> Iterator[Array]:
        """The responses, (n,) each: numbers, winsorised about the fit of a model, or one 0/1 column
        per class (one for two classes).
        """
        if self.codes is None:
            yield from (model.fitted[1] / self.sift.response.rows.column_root).T
        else:
            n_classes = int(self.codes.max()) + 1
            for c in range(1 if n_classes == 2 else 0, n_classes):
                yield (self.codes == c).astype(np.float64)

    def residuals(
        self, model: SiftFit, terms: Array, searched: int, K: Relationship | None
    ) -> list[Residual]:
        """The residual of each response given terms (n, df), whose model has `searched` columns
        that were searched for.
        """
        weight = self.sift.response.rows.weights
        df, labels = self.sift.settings.searched_df * searched, self.codes is not None
        return [
            residual_of(y, terms, weight, df, K, self.settings, labels=labels)
            for y in self.responses(model)
        ]

    def test(self, k: int, excluded: frozenset[int], second: bool) -> ReducedModel:
        """The test of column k given the model without the excluded columns; in the second round,
        given the other selected columns as well.
        """
        model = self.fit.without(excluded)
        terms, known = model.features(), set(model.selected.tolist())
        if second:
            chosen = self.fit
            terms = np.column_stack([terms, chosen.features(excluded)])
            known |= set(chosen.selected.tolist()) - excluded
        K, table, start = self.K, self.sift.table, self.sift.response.start
        if K is not None:
            others = table.clipped(np.array(sorted(excluded))) * table.rows.column_root
            K = K.without(others)
        residuals = self.residuals(model, terms, len(known), K)
        parts = np.min([self.parts(k, excluded, sorted(known), one) for one in residuals], axis=0)
        level = np.maximum(shares(self.sift.interactions, self.sift.settings), 1e-300)
        parts = parts + np.log(len(residuals)) - np.log(level)
        best = int(np.argmin(parts))
        left = np.square(model.residual).sum() / max(np.square(start).sum(), 1e-300)
        return ReducedModel(
            columns=tuple(v for v in model.selected.tolist() if v < self.n_columns),
            unexplained=float(left),
            background=max(one.white.share for one in residuals),
            part=PARTS[best],
            log_p=float(min(parts[best], 0.0)),
        )

    def parts(
        self, k: int, excluded: frozenset[int], known: list[int], residual: Residual
    ) -> list[float]:
        """log p of the linear, quadratic and local features of column k and of its best product."""
        x, Z = self.column(k)
        out = univariate_tests(residual, Z, self.sift.settings)
        if not self.sift.interactions:
            return [*out, 0.0]
        columns = self.fit.reduced.pool.columns
        free = ~np.isin(columns, list(excluded))
        z2 = product_tests(residual, np.nan_to_num(x), self.X[:, free])
        return [*out, best_product(z2, columns[free], known, self.sift.n_columns)]

    def candidates(self, also: Sequence[int]) -> tuple[list[int], Array]:
        """Columns to test, and approximate log p-values (p,) of all columns given the selected."""
        sift, fit = self.sift, self.fit
        found = fit.evidence.univariate
        q = sift.response.Y.shape[1]
        quick = univariate_log_p(found, q, sift.interactions, sift.settings)
        near = [fit.selected.tolist(), fit.groups.variables(fit.relaxed)]
        outside = np.setdiff1d(sift.varying, np.concatenate(near))
        further = outside[np.argsort(quick[outside], kind="stable")][: self.settings.further]
        listed = [k for some in (*near, further.tolist()) for k in sorted(some, key=quick.item)]
        first = list(dict.fromkeys(listed))[: self.settings.most_candidates]
        chosen = dict.fromkeys([*first, *also])
        return [k for k in chosen if k not in sift.always], np.minimum(quick, 0.0)

    def product(self, pair: tuple[int, int]) -> float:
        """log p of a selected product given all univariate features of both columns and all other
        selected groups.
        """
        chosen = self.fit
        group = chosen.groups.index.number(PRODUCT, pair)
        rest = replace(chosen, support=tuple(g for g in chosen.support if g != group), known=None)
        both = [self.column(v) for v in pair]
        terms = np.column_stack([rest.features(), *(Z.T for _, Z in both)])
        residuals = self.residuals(rest, terms, len(chosen.selected), self.K)
        rows = self.sift.response.rows
        feature = product_feature(np.column_stack([x for x, _ in both]), rows)
        h = (feature / rows.root)[:, None]
        z2 = [self_normalised(one.adjusted(h), one)[0] for one in residuals]
        return float(min(chi2_log_sf(np.array(max(z2)), 1) + np.log(len(residuals)), 0.0))


def column_significance(
    fit: SiftFit,
    codes: IntArray | None = None,
    *,
    findings: Sequence[IntArray] = (),
    strict: bool = False,
    also: Sequence[int] = (),
    n_columns: int | None = None,
    settings: ColumnTestSettings = TESTS,
) -> Significance:
    """p- and q-values of the columns of a sift. Columns that are one variable have one p-value, and
    are left out of its reduced model together.

    Parameters
    ----------
    fit : SiftFit
    codes : (n,) int array, optional
        Class numbers, where the response are labels.
    findings : sequence of int arrays
        Findings, most probable column first. Columns of a finding are tested together with it in
        place of their stand-ins, and its first column is always tested.
    strict : bool
        One round only: each column given its reduced model alone.
    also : sequence of int
        Further columns to test.
    n_columns : int, optional
        The first columns, which results are for; those that follow are covariates, and always kept.
    settings : ColumnTestSettings
    """
    sift = fit.problem
    kept = sift.response.rows.kept
    codes = codes if codes is None or kept is None else codes[kept]
    n_columns = sift.source.shape[1] if n_columns is None else n_columns
    pooled = sift.table.single(fit.reduced.pool.columns)
    K = relationship(sift.source, sift.response.rows, sift.settings, settings)
    tester = ColumnTester(fit, codes, pooled, K, n_columns, settings)
    first = [int(columns[0]) for columns in findings]
    candidates, quick = tester.candidates([*also, *first])
    p, joint = sift.source.shape[1], sift.joint
    labels, divided = (None, None) if joint is None else (joint.labels, joint.divided)
    varying = np.isin(np.arange(p), sift.varying)
    q_of = partial(q_values, labels=labels, tested=varying, divided=divided)
    p_of = partial(by_label, labels=labels, divided=divided)
    together = tested_together(sift, candidates, settings.stand_in, findings)
    log_p, log_finding = np.zeros(p), np.zeros(p)
    tests: dict[int, ColumnTest] = {}
    for second in (False, True):
        for k in candidates:
            variable = variable_columns(sift, k)
            alone = tester.test(k, variable, second)
            excluded = together[k] | variable
            whole = alone if excluded == variable else tester.test(k, excluded, second)
            tests[k] = ColumnTest(k, tuple(sorted(together[k])), alone, whole)
            log_p[k], log_finding[k] = alone.log_p, whole.log_p
        q = np.minimum(q_of(log_p), q_of(log_finding))
        if strict or not candidates or q.min() > settings.gate:
            break
    untested = ~np.isin(np.arange(p), candidates)
    return Significance(
        p_values=np.exp(p_of(np.where(untested, quick, log_p)))[:n_columns],
        q_values=q_of(log_p)[:n_columns],
        finding_p_values=np.exp(p_of(np.where(untested, quick, log_finding)))[:n_columns],
        finding_q_values=q_of(once_each(log_finding, together))[:n_columns],
        tests=tuple(sorted(tests.values(), key=lambda t: (t.alone.log_p, t.column))),
        products=tested_products(tester),
    )


def variable_columns(sift: Sift, k: int) -> frozenset[int]:
    """The columns that are one variable with column k, itself included."""
    if sift.labels is None:
        return frozenset([k])
    return frozenset(np.flatnonzero(sift.labels == sift.labels[k]).tolist())


def tested_together(
    sift: Sift, columns: list[int], least: float, findings: Sequence[IntArray]
) -> dict[int, frozenset[int]]:
    """The set that each of some columns is tested together with: its finding, or itself and its
    stand-ins.
    """
    if not columns:
        return {}
    together = correlated(sift, np.array(columns, dtype=np.intp), least)
    for finding in map(frozenset, (members.tolist() for members in findings)):
        together.update((k, finding) for k in columns if k in finding)
    always = frozenset(sift.always)  # in every reduced model
    return {k: (finding - always) | {k} for k, finding in together.items()}


def once_each(log_set: Array, together: dict[int, frozenset[int]]) -> Array:
    """log p-values of sets, of which those that overlap count once: a set that holds the tested
    column of a set with a smaller p-value gets log p = 0.
    """
    out, taken = np.zeros(len(log_set)), set[int]()
    for k in sorted(together, key=lambda k: (log_set[k], k)):
        if taken.isdisjoint(together[k]):
            out[k] = log_set[k]
            taken.add(k)
    return out


def tested_products(tester: ColumnTester) -> tuple[ProductTest, ...]:
    """p- and q-values of the selected products, among all pairs of columns."""
    fit, p = tester.fit, tester.sift.n_columns
    index = fit.groups.index
    pairs = [
        index.products[g - index.first_product] for g in fit.support if g >= index.first_product
    ]
    log_p = np.array([tester.product(pair) for pair in pairs])
    q = benjamini_hochberg(log_p, p * (p - 1) / 2)
    found = [
        ProductTest(*pair, float(np.exp(one)), float(two))
        for pair, one, two in zip(pairs, log_p, q, strict=True)
        if max(pair) < tester.n_columns
    ]
    return tuple(sorted(found, key=lambda t: (t.p_value, t.first, t.second)))
