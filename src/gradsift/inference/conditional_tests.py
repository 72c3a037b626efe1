"""p- and q-values: each column is tested beside the best explanation that does without it.

H0 of column k: the response is independent of x_k given all other columns. k is also tested
together with the columns that could take its place: its finding (`findings`) where there is
one, else its stand-ins, which are the columns correlated with it by `stand_in` or more. H0 of such
a set: the response is independent of all of its columns given the columns outside.

For each candidate k (selected, nearly selected, or among the best of the others), and for B = {k}
and B = that set:

1. The sift is repeated without B. What it finds is the rival, the best explanation that needs no
   column of B; k was not chosen for it, so that k is not tested for having been chosen.
2. What the rival leaves may hold effects too weak to be selected: a random background.
3. F tests of the linear, quadratic and local features of k beside the rival, and the best product
   with another column. The smallest p-value over its share is the p-value.

If that leaves a column or set with a q-value of at most `GATE`, all is done once more beside the
rival and what else was selected, which is less noise to be tested against. Where nothing is sure,
what was selected may have been chosen together by chance, and the first round stands.

Columns that are no candidates count with p = 1 when q-values are computed (Benjamini-Hochberg over
all columns), which can only make them larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradsift._run.passes import each_block
from gradsift.inference.findings import Finding
from gradsift.inference.results import ColumnTest, ProductTest, Rival, Significance
from gradsift.inference.score_tests import (
    Left,
    Relationship,
    best_product,
    left_of_labels,
    left_of_numbers,
    own_tests,
    product_tests,
    relationship,
    self_normalised,
    without_columns,
)
from gradsift.inference.settings import PRODUCT
from gradsift.numerics.statistics import benjamini_hochberg
from gradsift.protocols import Array, IntArray
from gradsift.sift.feature_store import feature_pieces
from gradsift.sift.features import (
    Single,
    clipped,
    clipped_columns,
    known_columns,
    product_feature,
    single_columns,
)
from gradsift.sift.levels import chi2_log_sf, shares, univariate_log_p
from gradsift.sift.procedure import Sift, SiftFit

# Rivals: the best explanation of the response that does without some columns.


@dataclass(frozen=True)
class Rivals:
    """A sifted table, asked again and again what it would say without some columns.

    Attributes
    ----------
    fit : SiftFit
        What the sift finds with all columns; `fit.without` are the rivals.
    X : (n, k) array
        Clipped values of the pooled columns, for products.
    K : Relationship or None
        Relationship of the rows over all columns.
    columns : dict
        Columns that were asked for before.
    """

    fit: SiftFit
    X: Single
    K: Relationship | None
    columns: dict[int, tuple[Array, Array]] = field(default_factory=dict, repr=False)

    @property
    def sift(self) -> Sift:
        return self.fit.problem

    def relationship_without(self, excluded: frozenset[int]) -> Relationship | None:
        sift = self.sift
        rows = sift.response.rows
        return without_columns(self.K, sift.source, sorted(excluded), rows, sift.settings)

    def column(self, k: int) -> tuple[Array, Array]:
        """Clipped values (n,), NaN where missing, and own features (2 + J, n), rows unscaled."""
        if k not in self.columns:
            rows, settings = self.sift.response.rows, self.sift.settings
            x = known_columns(self.sift.source, np.array([k]), rows, settings)
            made = feature_pieces(self.sift.source, np.array([k]), rows, settings, weighted=False)
            self.columns[k] = x[:, 0], next(made)[1][0]
        return self.columns[k]


def make_rivals(fit: SiftFit) -> Rivals:
    """Read the pooled columns once more, and relate the rows."""
    sift = fit.problem
    rows, settings, columns = sift.response.rows, sift.settings, fit.reduced.pool.columns
    return Rivals(
        fit=fit,
        X=single_columns(sift.source, columns, rows, settings),
        K=relationship(sift.source, rows, settings),
    )


def correlated(sift: Sift, columns: IntArray, least: float) -> dict[int, frozenset[int]]:
    """For each of some columns, those correlated with it by `least` or more, itself included."""
    rows, settings, source = sift.response.rows, sift.settings, sift.source
    A = clipped_columns(source, columns, rows, settings)
    weight = np.ones(len(A)) if rows.weight is None else rows.weight
    lever = (A * weight[:, None]).T / rows.total
    near: dict[int, set[int]] = {int(k): {int(k)} for k in columns}

    def correlations(X: Array) -> Array:
        return np.asarray(np.abs(lever @ clipped(X, rows, settings)) >= least)

    for where, close in each_block(source, lambda _: correlations):
        for k, row in zip(columns.tolist(), close, strict=True):
            near[k].update((where.start + np.flatnonzero(row)).tolist())
    return {k: frozenset(v) for k, v in near.items()}


PARTS = ("linear", "quadratic", "local", "product")
STAND_IN = 0.8
"""Correlation from which on a column is a stand-in of another."""
GATE = 0.1
"""The second round needs one q-value of the first that is no larger."""
MOST_CANDIDATES = 40
FURTHER = 6
"""Columns outside the supports that are tested, the best ones."""


@dataclass(frozen=True)
class ColumnTester:
    """One table and its response, on which columns are tested."""

    rivals: Rivals
    codes: IntArray | None
    """Class numbers of the kept rows; None for numbers."""

    @property
    def sift(self) -> Sift:
        return self.rivals.sift

    def responses(self, explanation: SiftFit) -> Iterator[Array]:
        """The responses, (n,) each: numbers, or one 0/1 column per class (one for two classes)."""
        if self.codes is None:
            yield from (explanation.stand_in / self.sift.response.root).T
        else:
            n_classes = int(self.codes.max()) + 1
            for c in range(1 if n_classes == 2 else 0, n_classes):
                yield (self.codes == c).astype(np.float64)

    def left(
        self, explanation: SiftFit, terms: Array, searched: int, K: Relationship | None
    ) -> list[Left]:
        rows = self.sift.response.rows
        weight = np.ones(len(terms)) if rows.weight is None else rows.weight
        df = self.sift.settings.searched_df * searched
        leave = left_of_numbers if self.codes is None else left_of_labels
        return [leave(y, terms, weight, df, K) for y in self.responses(explanation)]

    def test(self, k: int, excluded: frozenset[int], second: bool) -> Rival:
        """Column k beside the best explanation without the excluded columns."""
        rival = self.rivals.fit.without(excluded)
        terms, known = rival.features(), set(rival.selected.tolist())
        if second:
            chosen = self.rivals.fit
            terms = np.column_stack([terms, chosen.features(excluded)])
            known |= set(chosen.selected.tolist()) - excluded
        left = self.left(rival, terms, len(known), self.rivals.relationship_without(excluded))
        parts = np.min([self.parts(k, excluded, sorted(known), one) for one in left], axis=0)
        parts = parts + np.log(len(left)) - np.log(self.shares)
        best = int(np.argmin(parts))
        return Rival(
            columns=tuple(rival.selected.tolist()),
            unexplained=self.unexplained(rival),
            background=max(0.0 if one.white is None else one.white.share for one in left),
            part=PARTS[best],
            log_p=float(min(parts[best], 0.0)),
        )

    @property
    def shares(self) -> Array:
        return np.maximum(shares(self.sift.interactions, self.sift.settings), 1e-300)

    def parts(self, k: int, excluded: frozenset[int], known: list[int], left: Left) -> list[float]:
        """log p of the linear, quadratic, local part and of the best product."""
        x, Z = self.rivals.column(k)
        out = own_tests(left, Z, self.sift.settings)
        if not self.sift.interactions:
            return [*out, 0.0]
        columns = self.rivals.fit.reduced.pool.columns
        free = ~np.isin(columns, list(excluded))
        z2 = product_tests(left, np.nan_to_num(x), self.rivals.X[:, free])
        return [*out, best_product(z2, columns[free], known, self.sift.n_columns)]

    def unexplained(self, explanation: SiftFit) -> float:
        """Share of the variance that a least-squares fit on an explanation leaves."""
        start = self.sift.response.start
        return float(np.square(explanation.residual).sum() / max(np.square(start).sum(), 1e-300))

    def candidates(self, also: Sequence[int]) -> tuple[list[int], Array]:
        """Columns to test, and the quick log p-value of all beside what was selected, (p,)."""
        sift, fit = self.sift, self.rivals.fit
        found = fit.evidence.univariate
        q = sift.response.Y.shape[1]
        quick = univariate_log_p(found, q, sift.interactions, sift.settings)
        near = [fit.selected.tolist(), fit.groups.variables(fit.relaxed)]
        outside = np.setdiff1d(sift.varying, np.concatenate(near))
        further = outside[np.argsort(quick[outside], kind="stable")][:FURTHER]
        listed = [k for some in (*near, further.tolist()) for k in sorted(some, key=quick.item)]
        chosen = dict.fromkeys([*list(dict.fromkeys(listed))[:MOST_CANDIDATES], *also])
        return [k for k in chosen if k not in sift.always], np.minimum(quick, 0.0)

    def product(self, pair: tuple[int, int]) -> float:
        """log p of a product beyond all features of both columns and the rest of the support."""
        chosen = self.rivals.fit
        own = chosen.groups.index.first_product + chosen.groups.parents.index(pair)
        rest = replace(chosen, support=tuple(g for g in chosen.support if g != own), known=None)
        both = [self.rivals.column(v) for v in pair]
        terms = np.column_stack([rest.features(), *(Z.T for _, Z in both)])
        left = self.left(rest, terms, len(chosen.selected), self.rivals.K)
        rows = self.sift.response.rows
        feature = product_feature(np.column_stack([x for x, _ in both]), rows)
        z2 = [self_normalised(one.beyond((feature / rows.root)[:, None]), one)[0] for one in left]
        return float(min(chi2_log_sf(np.array(max(z2)), 1) + np.log(len(left)), 0.0))


def column_significance(
    fit: SiftFit,
    codes: IntArray | None = None,
    *,
    stand_in: float = STAND_IN,
    findings: Sequence[IntArray] = (),
    strict: bool = False,
    also: Sequence[int] = (),
) -> Significance:
    """p- and q-values of the columns of a sift. Columns that are one variable have one p-value, and
    none of them may explain the response in place of another.

    Parameters
    ----------
    fit : SiftFit
    codes : (n,) int array, optional
        Class numbers, where the response are labels.
    stand_in : float
        A column is tested together with its stand-ins, those correlated with it by this or more,
        where it is in none of `findings`.
    findings : sequence of int arrays
        Findings, most probable column first: these columns are tested too.
    strict : bool
        One round only: each column beside its rival alone.
    also : sequence of int
        Further columns to test.
    """
    sift = fit.problem
    tester = ColumnTester(make_rivals(fit), kept_codes(sift, codes))
    first = [int(columns[0]) for columns in findings]
    candidates, quick = tester.candidates([*also, *first])
    p = sift.source.shape[1]
    together = tested_together(sift, candidates, stand_in, findings)
    log_p, log_finding = np.zeros(p), np.zeros(p)
    tests: dict[int, ColumnTest] = {}
    for second in (False, True):
        for k in candidates:
            variable = columns_beside(sift, k)
            alone = tester.test(k, variable, second)
            excluded = together[k] | variable
            whole = alone if excluded == variable else tester.test(k, excluded, second)
            tests[k] = ColumnTest(k, tuple(sorted(together[k])), alone, whole)
            log_p[k], log_finding[k] = alone.log_p, whole.log_p
        q = np.minimum(q_values(sift, log_p), q_values(sift, log_finding))
        if strict or not candidates or q.min() > GATE:
            break
    untested = ~np.isin(np.arange(p), candidates)
    return Significance(
        p_values=np.exp(by_variable(sift, np.where(untested, quick, log_p))),
        q_values=q_values(sift, log_p),
        finding_p_values=np.exp(by_variable(sift, np.where(untested, quick, log_finding))),
        finding_q_values=q_values(sift, once_each(log_finding, together)),
        tests=tuple(sorted(tests.values(), key=lambda t: (t.alone.log_p, t.column))),
        products=tested_products(tester),
    )


def columns_beside(sift: Sift, k: int) -> frozenset[int]:
    """The columns that are one variable with column k, itself included."""
    if sift.labels is None:
        return frozenset([k])
    return frozenset(np.flatnonzero(sift.labels == sift.labels[k]).tolist())


def by_variable(sift: Sift, log_p: Array) -> Array:
    """log p-values (p,) of columns, or of the variables that some of them make up: the smallest,
    corrected for the number of columns that it is the smallest of.
    """
    joint = sift.joint
    if joint is None:
        return log_p
    best = np.zeros(len(log_p))
    np.minimum.at(best, joint.labels, np.minimum(log_p + np.log(joint.divided), 0.0))
    return best[joint.labels]


def q_values(sift: Sift, log_p: Array) -> Array:
    """q-values (p,) over all columns that vary, or over all variables that these make up."""
    out, varying = np.ones(len(log_p)), sift.varying
    if sift.joint is None:
        out[varying] = benjamini_hochberg(log_p[varying])
        return out
    labels, first = np.unique(sift.joint.labels[varying], return_index=True)
    out[labels] = benjamini_hochberg(by_variable(sift, log_p)[varying[first]])
    return out[sift.joint.labels]


def kept_codes(sift: Sift, codes: IntArray | None) -> IntArray | None:
    """Class numbers of the rows that count."""
    kept = sift.response.rows.kept
    return codes if codes is None or kept is None else codes[kept]


def tested_together(
    sift: Sift, columns: list[int], least: float, findings: Sequence[IntArray]
) -> dict[int, frozenset[int]]:
    """What each of some columns is tested together with, itself included: its finding, or
    its stand-ins.
    """
    if not columns:
        return {}
    together = correlated(sift, np.array(columns, dtype=np.intp), least)
    for finding in map(frozenset, (members.tolist() for members in findings)):
        together.update((k, finding) for k in columns if k in finding)
    always = frozenset(sift.always)  # in every explanation: nothing takes their place
    return {k: (finding - always) | {k} for k, finding in together.items()}


def once_each(log_set: Array, together: dict[int, frozenset[int]]) -> Array:
    """log p-values of sets, of which those that overlap count once: in order of their p-values, a
    set that shares a column with an earlier one gets log p = 0.
    """
    out, taken = np.zeros(len(log_set)), set[int]()
    for k in sorted(together, key=lambda k: (log_set[k], k)):
        if taken.isdisjoint(together[k]):
            out[k] = log_set[k]
            taken.add(k)
    return out


def tested_products(tester: ColumnTester) -> tuple[ProductTest, ...]:
    """p- and q-values of the selected products, among all pairs of columns."""
    fit, p = tester.rivals.fit, tester.sift.n_columns
    products = fit.groups.index.products_of(fit.support)
    pairs = [fit.groups.parents[fit.groups.index.place(g)] for g in products]
    log_p = np.array([tester.product(pair) for pair in pairs])
    q = benjamini_hochberg(log_p, p * (p - 1) / 2)
    found = [
        ProductTest(*pair, float(np.exp(one)), float(two))
        for pair, one, two in zip(pairs, log_p, q, strict=True)
    ]
    return tuple(sorted(found, key=lambda t: (t.p_value, t.first, t.second)))


def own_columns(findings: Iterable[Finding] | None) -> list[IntArray]:
    """The columns of findings that are no products: products have tests of their own."""
    return [one.columns for one in findings or () if one.shape != PRODUCT]
