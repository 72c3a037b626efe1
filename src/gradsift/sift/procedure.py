"""The sift, step by step: `make_sift` states a problem, `Sift.run` solves it.

Problem: which of the p columns of a standardised table (n, p) does a response (n, q) depend on? The
answer is a support, a set of groups of features with the least criterion

    n log det(R'R / n) + cost of the groups (`criterion`),

found by a group lasso path and a local search (`search`), first among univariate groups, then among
these and the products of two columns that explain the residual (`products`). The steps of
`docs/algorithm.md`, in the order in which they are taken:

    make_sift                    3    the response, centred and whitened
    Sift.run                          once, or twice where rows belong together
      with_tails                 6    again with linear features that are not cut off
        search                        the support, with features of one kind
          first_pool            21    columns that are searched, with their features and levels
          best            15 to 20    path, search at relaxed and at true levels, check, copies
          refill                22    another pool, where a column outside of it passes its level
          with_pairs        23, 24    products that the residual follows
    SiftFit.bent                24    columns that a curve along one sum needs
    SiftFit.result        25 to 27    the terms, and a ranking of all columns

The other modules hold the steps 4 to 7 (`features`), 8 to 11 (`groups`, levels) and 12 to 14
(`criterion`, fits and their cost).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradsift._run.progress import Say, silent
from gradsift.protocols import Array, IntArray, Source
from gradsift.responses import Likelihood
from gradsift.sift.criterion import (
    SiftResponse,
    criterion,
    in_principal_axes,
    make_likelihood,
    make_response,
    robust_fit,
    whiten_residual,
    whitened_response,
)
from gradsift.sift.design_effects import inflated
from gradsift.sift.features import Columns, largest, promising, strongest
from gradsift.sift.groups import (
    PARTS,
    Groups,
    JointGroups,
    Levels,
    Support,
    make_joint,
    pool,
    relaxed_levels,
    univariate_levels,
    with_products,
)
from gradsift.sift.products import Classes, interactions_of, screen
from gradsift.sift.ranking import (
    Evidence,
    column_scores,
    loss_without,
    ranks,
    selected_scores,
    variable_losses,
)
from gradsift.sift.rows import make_rows
from gradsift.sift.search import Fits, Search, choose_supports, path
from gradsift.sift.settings import DEFAULT, SiftSettings
from gradsift.sift.single_index import bent_columns


@dataclass(frozen=True)
class Sift:
    """The problem: data, levels and settings of one sift. Its methods are the steps."""

    source: Source
    """(n, p) standardised columns."""
    response: SiftResponse
    """(n, q), with the weights and clusters of the rows."""
    false_positives: float
    interactions: bool
    always: tuple[int, ...] = ()
    """Columns that are always selected."""
    say: Say = silent
    settings: SiftSettings = DEFAULT
    excluded: frozenset[int] = frozenset()
    """Columns that may not be selected, by themselves or in products."""
    labels: IntArray | None = None
    """(p,) the variable of each column; None = each column is one variable."""
    constant: tuple[int, ...] = ()
    """Columns that never change, and compete with no other."""
    noise: Array | None = None
    """(n, q) residual of an earlier fit, not mapped, that says how much the rows of a cluster have
    in common; None = the response.
    """

    def run(self) -> SiftFit:
        """The best support. With groups of rows, the residual of a first sift gives the intraclass
        correlation of the noise, and the sift is run again with it.
        """
        fit, rows = self.with_tails(), self.response.rows
        clusters = rows.clusters
        if clusters is None or not fit.support:
            return fit
        noise = clusters.unmapped((fit.residual / rows.column_root).T).T
        known = replace(rows, clusters=clusters.correlated(noise, self.settings))
        Y = clusters.unmapped(self.response.Y.T).T
        response = whitened_response(Y, known, self.response.robust, self.settings)
        return replace(self, response=response, noise=noise).with_tails()

    def with_tails(self) -> SiftFit:
        """The search among columns that are cut off; or the one with linear features as they are,
        if its criterion is less by what a column costs: the best of two searches would otherwise
        select more that is false than one. It is made where the columns found gain the relaxed
        level of a column by such features: in 56 of 182 fits to 40 designs it was kept, and the
        least of these gains was .76 of the level.
        """
        fit = self.search()
        other = replace(self, settings=replace(self.settings, clip_lines=False))
        factor = max(self.settings.relaxed / self.false_positives, 1.0)
        df = np.array([self.response.Y.shape[1]])
        if other.gain_on(fit) < relaxed_levels(self.levels.new[:1], df, factor)[0]:
            return fit
        self.say("search again, with linear features as they are")
        found = other.search()
        before, after = (criterion(f.groups, f.support, self.response) for f in (fit, found))
        if before - after < self.levels.new[0]:
            return fit
        # columns that are not selected are ranked by features that are cut off
        return replace(found, marginal=fit.marginal, known=found.evidence)

    def gain_on(self, fit: SiftFit) -> float:
        """By how much the criterion of a fit's univariate groups is less by the features of this
        problem than by those they were found with.
        """
        index = fit.groups.index
        support = tuple(g for g in fit.support if g < index.first_joint)
        columns = np.array(fit.groups.variables(support), dtype=np.intp)
        if not len(columns):
            return 0.0
        here = self.pooled(columns)
        there = criterion(fit.groups, support, self.response)
        return there - criterion(here, index.renumbered(support, here.index), self.response)

    def search(self) -> SiftFit:
        """Choose a support of univariate groups, then of these and products."""
        self.say(f"screening {self.source.shape[1]:,} columns")
        groups, marginal = self.first_pool()
        self.say(f"path and search over {len(groups.columns):,} columns")
        fit = self.best(groups, [], marginal)
        del groups  # two pools at a time would be the most memory a fit takes
        for _ in range(self.settings.rounds):
            if (columns := self.refill(fit)) is None:
                break
            self.say(f"search again, over {len(columns):,} columns")
            index, support = fit.groups.index, fit.support
            del fit
            groups = self.pooled(columns)
            fit = self.best(groups, [index.renumbered(support, groups.index)], marginal)
            del groups
        if self.interactions:
            self.say("products of two variables")
            fit = self.with_pairs(fit)
        if len(fit.groups.columns) < self.source.shape[1]:
            known = fit.evidence
            groups, (support, relaxed) = fit.groups.only([fit.support, fit.relaxed])
            fit = replace(fit, groups=groups, support=support, relaxed=relaxed, known=known)
        return fit

    # ------------------------------------------------------------------ its steps

    def first_pool(self) -> tuple[Groups, Array]:
        """Features of all columns, or of the most promising ones, and the statistics of all against
        the response.
        """
        p, count = self.source.shape[1], self.table.pool_size()
        if p <= count:
            groups = self.pooled(np.arange(p))
            return groups, self.univariate_statistics(groups, self.unit_response)
        statistics = self.table.statistics(self.unit_response)
        columns = promising(statistics, self.levels.new, count, list(self.always))
        return self.pooled(columns), statistics

    def pooled(self, columns: IntArray) -> Groups:
        """Groups of some columns; the linear ones of columns that are always kept cost nothing."""
        groups = pool(self.table, columns, self.levels)
        if self.joint is not None:
            q, of = self.response.Y.shape[1], self.joint
            how = self.false_positives, q, self.interactions, self.settings
            groups = replace(
                groups,
                index=replace(groups.index, joint=of.members),
                joint=of,
                levels=of.univariate_levels(columns, *how).followed_by(of.joint_levels(*how)),
                size=np.concatenate([groups.size, of.size]),
            )
        rows, noise = self.response.rows, self.unit_response
        if rows.clusters is not None:
            if self.noise is not None:
                noise = whiten_residual(rows.centred(self.noise) * rows.column_root, rows.total)
            groups = inflated(groups, noise)
        free = np.array(self.fixed(groups), dtype=np.intp)
        groups = replace(groups, levels=groups.levels.with_value(free, 0.0))
        return groups.excluding_columns(self.excluded)

    def fixed(self, groups: Groups) -> Support:
        """Linear groups of the columns that are always kept."""
        return tuple(int(j) for j in np.searchsorted(groups.columns, sorted(self.always)))

    def best(
        self, groups: Groups, starts: list[Support], marginal: Array, *, propose: bool = True
    ) -> SiftFit:
        """The support of a search among these groups (steps 15 to 20), from the supports of a path
        and these starts, or from the starts alone.
        """
        fixed = self.fixed(groups)
        starts = [*path(groups, self.response, fixed), *starts] if propose else starts
        found = choose_supports(groups, starts, self.response, fixed, self.false_positives)
        return SiftFit(self, groups, *found, marginal)

    def univariate_statistics(self, groups: Groups, R: Array) -> Array:
        """Statistics (3, p) of the univariate groups of all columns against unit-variance residuals
        R (n, q), rows scaled.
        """
        p = self.source.shape[1]
        if len(groups.columns) == p:
            return groups.squared_norms(R)[: 3 * p].reshape(3, p)
        return self.table.statistics(R)

    def evidence(self, R: Array, univariate: Array, selected: list[int]) -> Evidence:
        """What unit-variance residuals R (n, q), rows scaled, follow: univariate groups, and the
        products of two columns, of a table with more than `n_paired` those of the most promising.
        """
        if not self.interactions:
            return Evidence(R, univariate)
        rows = self.response.rows
        columns = promising(univariate, self.levels.new, self.n_paired, selected)
        products = screen(
            self.table.single,
            columns[~np.isin(columns, [*self.excluded, *self.constant])],
            R / rows.column_root,
            rows,
            selected,
            self.false_positives * self.settings.shares[3],
            self.settings,
        )
        return Evidence(R, univariate, products)

    def with_pairs(self, fit: SiftFit, *, propose: bool = False) -> SiftFit:
        """Screen products against the residual, admit what passes, and search again: from the
        supports so far, or, where these come from one search only, from those that a path over
        univariate groups and products proposes.
        """
        products: dict[tuple[int, int], float] = {}
        for _ in range(self.settings.rounds):
            found = fit.evidence
            assert found.products is not None
            new = {v: t for v, t in found.products.passed.items() if v not in products}
            if not new:
                break
            products |= new
            need = np.array(sorted({c for pair in products for c in pair}))
            X = self.table.known(need).T
            groups = with_products(fit.groups, dict(zip(need.tolist(), X, strict=True)), products)
            if groups.inflation is not None:
                groups = inflated(groups, found.R, groups.index.first_product)
            starts = [fit.support] if propose else [fit.support, fit.relaxed]
            fit = self.best(groups, starts, fit.marginal, propose=propose)
        return fit

    def refill(self, fit: SiftFit) -> IntArray | None:
        """The columns of a new pool; None where the old one suffices.

        A new pool is needed if a column outside of it passes its level against the residual of the
        support. Such columns, and those of the supports, are in the new pool. The rest of it are
        the columns with the largest statistics against the residual or the response.
        """
        groups, k, level = fit.groups, len(fit.groups.columns), self.levels.new
        if k == self.source.shape[1]:
            return None
        best = strongest(fit.statistics[1], level)
        best[groups.columns] = 0.0
        if not best.max() > 1:
            return None
        best[groups.variables((*fit.support, *fit.relaxed))] = np.inf
        new = np.flatnonzero(best > 1)
        if len(new) >= k:
            return largest(best, k)
        best = strongest(fit.statistics[1], level)
        np.maximum(best, strongest(fit.marginal, level), out=best)
        best[new] = np.inf
        return largest(best, k)

    # ------------------------------------------------------------------ what the problem says

    @property
    def table(self) -> Columns:
        """The columns as they are read."""
        return Columns(self.source, self.response.rows, self.settings)

    @property
    def n_columns(self) -> int:
        """Columns that compete: those that change."""
        return self.source.shape[1] - len(self.constant)

    @property
    def varying(self) -> IntArray:
        """The numbers of these columns."""
        return np.delete(np.arange(self.source.shape[1]), list(self.constant))

    @property
    def n_paired(self) -> int:
        """Columns of which all products of two are tested; 0 without interactions. The larger the
        part of all pairs that is out of reach, the less time is spent on the rest of them.
        """
        if not self.interactions:
            return 0
        limits, (n, q) = self.settings.limits, self.response.Y.shape
        slower = 1 if self.response.rows.clusters is None else limits.cluster_cost
        affordable = int(limits.most_products / (n * q * slower * max(self.n_columns, 1)))
        return min(max(affordable, limits.most_columns), self.n_columns)

    @cached_property
    def joint(self) -> JointGroups | None:
        """The joint groups of variables of several columns."""
        if self.labels is None:
            return None
        return make_joint(self.table, self.labels, self.varying, self.unit_response)

    @cached_property
    def levels(self) -> Levels:
        """Levels (3,) of the univariate groups of a column among all variables: columns, unless
        several are one.
        """
        count = self.n_columns
        if self.labels is not None:
            count = len(np.unique(self.labels[self.varying]))
        q = self.response.Y.shape[1]
        return univariate_levels(self.false_positives, count, q, self.interactions, self.settings)

    @property
    def unit_response(self) -> Array:
        """The response (n, q) with unit covariance, rows scaled."""
        return whiten_residual(self.response.start, self.response.rows.total)


class Reduced(NamedTuple):
    """The pool and the supports that the searches for all reduced models start from."""

    pool: Groups
    """The columns that are searched, without products."""
    starts: tuple[Support, ...]
    """The selected support without its products, and the proposals of the path."""


@dataclass(frozen=True)
class SiftFit:
    """The support of a sift, with the features that inference and ranking need. It is released when
    these are done.
    """

    problem: Sift
    groups: Groups
    """What the support is chosen from."""
    support: Support
    relaxed: Support
    """The best support at relaxed levels."""
    marginal: Array
    """(3, p) univariate statistics against the response."""
    known: Evidence | None = field(default=None, repr=False)
    """Its `evidence`, where the features that it was found with are released."""
    reduced_models: dict[frozenset[int], SiftFit] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Answers of `without`, remembered."""

    @property
    def selected(self) -> IntArray:
        """Columns of the support, sorted."""
        return np.array(self.groups.variables(self.support), dtype=np.intp)

    @cached_property
    def bent(self) -> IntArray:
        """Columns outside of the support that a curve along a sum of columns needs, sorted."""
        problem, response = self.problem, self.problem.response
        rows, p = response.rows, problem.n_columns
        several = response.Y.shape[1] > 1 or problem.labels is not None
        other = response.likelihood is not None or rows.clusters is not None
        left = float(np.sum(self.residual**2))
        if several or other or not problem.interactions or not left > 0.0:
            return self.selected[:0]
        settings = problem.settings
        count = min(int(rows.total) // settings.index_rows, settings.n_known)
        columns = promising(self.marginal, problem.levels.new, count, self.selected.tolist())
        columns = columns[
            ~np.isin(columns, [*problem.excluded, *problem.always, *problem.constant])
        ]
        if len(columns) < 2:
            return columns[:0]
        X = problem.table.single(columns).astype(float)
        y = self.fitted[1][:, 0] / rows.root
        found = bent_columns(X, y, rows.weights, left, p, settings)
        return np.setdiff1d(columns[found], self.selected)

    @cached_property
    def fitted(self) -> tuple[Array, Array]:
        """(n, q) the residual of the fit to the pseudo-response, and this response; rows scaled."""
        return robust_fit(self.groups, self.support, self.problem.response)

    @property
    def residual(self) -> Array:
        return self.fitted[0]

    @property
    def eta(self) -> Array:
        """(n, q) the fit on the link scale, up to a constant; of numbers and classes, in units of
        the whitened response.
        """
        response, (residual, fitted_to) = self.problem.response, self.fitted
        return np.asarray((fitted_to - residual) / response.rows.column_root * response.unit)

    @cached_property
    def statistics(self) -> tuple[Array, Array]:
        """The residual (n, q) with unit covariance, and the univariate statistics (3, p) of all
        columns against it; of an empty support, those of the response.
        """
        if not self.support:
            return self.problem.unit_response, self.marginal
        R = whiten_residual(self.residual, self.groups.rows.total)
        return R, self.problem.univariate_statistics(self.groups, R)

    @cached_property
    def evidence(self) -> Evidence:
        """Evidence in the residual of univariate groups and products."""
        if self.known is not None:
            return self.known
        return self.problem.evidence(*self.statistics, self.selected.tolist())

    @cached_property
    def terms(self) -> tuple[ChosenGroup, ...]:
        """Terms of the potential, strongest first."""
        groups, support = self.groups, self.support
        strength = loss_without(groups, support, self.fitted[1], [(g,) for g in support])
        made = [
            ChosenGroup(PARTS[groups.index.part(g)], groups.index.parents(g), float(s))
            for g, s in zip(support, strength, strict=True)
        ]
        return tuple(sorted(made, key=lambda term: (-term.strength, term.variables)))

    def features(self, without: frozenset[int] = frozenset()) -> Array:
        """Features (n, df), rows unscaled, of the groups that use none of some columns."""
        kept = [g for g in self.support if without.isdisjoint(self.groups.index.parents(g))]
        return np.asarray(self.groups.stack(tuple(kept)).T / self.groups.rows.column_root)

    @cached_property
    def reduced(self) -> Reduced:
        """The pool of `without`, with all columns that were selected in it."""
        problem, groups = self.problem, self.groups
        used = groups.variables((*self.support, *self.relaxed))
        count = min(problem.table.pool_size(), problem.source.shape[1])
        always = [*used, *problem.always]
        made = problem.pooled(promising(self.marginal, problem.levels.new, count, always))
        alone = tuple(g for g in self.support if g < groups.index.first_product)
        start = groups.index.renumbered(alone, made.index)
        return Reduced(made, (start, *path(made, problem.response, problem.fixed(made))))

    def without(self, columns: frozenset[int]) -> SiftFit:
        """The reduced model without some columns: this fit where it uses none of them, else the
        result of one search at the chi-square levels from which they are excluded, then of the
        products. Results are cached.
        """
        if columns.isdisjoint(self.groups.variables(self.support)):
            return self
        if columns in self.reduced_models:
            return self.reduced_models[columns]
        problem = replace(self.problem, excluded=columns)
        made, supports = self.reduced
        groups = made.excluding_columns(columns)
        starts = list(
            dict.fromkeys(
                tuple(g for g in T if columns.isdisjoint(groups.index.parents(g))) for T in supports
            )
        )
        response = problem.response
        search = Search(groups, response, problem.fixed(groups), Fits(groups, response))
        support = search.choose([starts[0], *search.best(starts, 1)])
        found = SiftFit(problem, groups, support, support, self.marginal)
        if problem.interactions:
            found = problem.with_pairs(found, propose=True)
        self.reduced_models[columns] = found
        return found

    def result(self, classes: Classes | None = None, *, ranked: bool = True) -> SiftResult:
        """The selected terms and the ranking of all columns, without the features they were made
        of.

        `classes` says what the classes are where the response is given covariates or an offset.
        Unless `ranked`, columns that are not selected all have the score 0.
        """
        problem, groups, response = self.problem, self.groups, self.problem.response
        own = variable_losses(groups, self.support, self.fitted[1])
        selected = own.variables
        if ranked:
            problem.say(f"ranking {problem.source.shape[1]:,} columns")
            marginal = self.evidence
            if self.support:
                marginal = problem.evidence(problem.unit_response, self.marginal, selected)
            score = column_scores(
                groups,
                own,
                self.relaxed,
                response,
                (self.evidence, marginal),
                problem.false_positives,
                problem.n_columns,
            )
        else:
            score = np.zeros(problem.source.shape[1])
            score[selected] = selected_scores(own.loss)
        # columns of a curve come after those of the support, and before all others
        score[self.bent] = 1.0 + 1e-6 * (1.0 + score[self.bent])
        tails = np.full(len(score), np.nan)
        tails[selected] = np.exp(own.log_p)
        chosen = np.union1d(selected, self.bent).astype(np.intp)
        needed = interactions_of(groups, self.support, response, classes)
        kept = {groups.index.parents(g) for g in needed}
        pairs = [t for t in self.terms if t.part == "product" and t.variables in kept]
        clusters = response.rows.clusters
        return SiftResult(
            selected=chosen,
            ranking=ranks(score),
            scores=score,
            interactions=tuple((t.variables[0], t.variables[1], t.strength) for t in pairs),
            groups=self.terms,
            chi_square_tails=tails[chosen],
            residual=response.rows.in_order(self.residual / response.rows.column_root),
            correlation=0.0 if clusters is None else clusters.correlation,
            clip_lines=problem.settings.clip_lines,
        )


@dataclass(frozen=True)
class ChosenGroup:
    """One term of the potential."""

    part: str
    """"linear", "quadratic", "local", "joint" (all columns of one variable) or "product"."""
    variables: tuple[int, ...]
    strength: float
    """Rise of the log residual variance (log det, several responses) without this term."""


@dataclass(frozen=True)
class SiftResult:
    """The result of a sift, as fitted models keep it."""

    selected: IntArray
    """Selected columns, sorted."""
    ranking: IntArray
    """(p,) rank of every column, 1 = best."""
    scores: Array
    """(p,) larger = better: (1, 2] selected, [0, 1) the others."""
    interactions: tuple[tuple[int, int, float], ...]
    """Selected products (k, l, strength), strongest first; for classes only those that the log odds
    need, too.
    """
    groups: tuple[ChosenGroup, ...]
    """Terms of the selected potential, strongest first."""
    chi_square_tails: Array
    """One per selected column: chi-square tail of what the fit loses without it; nan outside of the
    support. It orders columns
    and is no p-value: the columns were chosen for being large here, and others may stand in for
    them.
    """
    residual: Array
    """(rows with positive weight, q) residual of the selected terms, in units of the whitened
    response.
    """
    correlation: float = 0.0
    """Correlation of the noise of two rows of a group; 0 without groups."""
    clip_lines: bool = True
    """Whether the linear features that it was found with were cut off."""


def sift(source: Source, Y: Array, **options: Any) -> SiftResult:
    """Select and rank variables; options as in `make_sift`.

    Deterministic: the same input gives the same bits.
    """
    return make_sift(source, Y, **options).run().result()


def make_sift(
    source: Source,
    Y: Array,
    *,
    false_positives: float = 0.3,
    interactions: bool = True,
    always_keep: Sequence[int] = (),
    feature_groups: IntArray | None = None,
    constant: Sequence[int] = (),
    sample_weight: Array | None = None,
    groups: IntArray | None = None,
    robust: bool = True,
    likelihood: Likelihood | None = None,
    say: Say = silent,
    settings: SiftSettings = DEFAULT,
) -> Sift:
    """Check the arguments of a sift, and set it up.

    Parameters
    ----------
    source : Source
        Standardised columns, (n, p); constant columns are zero. Read in blocks.
    Y : array (n, q)
        Response, or +-1 labels (q = 1), or the C - 1 contrasts of C classes. Centred and whitened
        here.
    false_positives : float
        Expected number of false variables when nothing is true.
    interactions : bool
        Also test products of two variables.
    always_keep : sequence of int
        Columns that are always selected; their linear part is not penalised.
    feature_groups : int array (p,), optional
        Columns with the same number are one variable: one penalty, whatever the number of columns.
    constant : sequence of int
        Columns that never change: nothing competes with them.
    sample_weight : array (n,), optional
        Numbers of samples: 2 is the row twice, 0 removes it.
    groups : array (n,), optional
        Labels of rows that belong together, such as the visits of a subject: they may depend on
        each other in any way, rows with different labels may not.
    robust : bool
        Winsorise residuals at three robust standard deviations. Off for labels.
    likelihood : Likelihood, optional
        The response, where it has one; then Y is not used.
    say : function
        Called with what is done next.
    settings : SiftSettings
        Numbers of the procedure; change them to study it, not to use it.
    """
    n, p = source.shape
    if not 0 < false_positives < np.inf:
        raise ValueError(
            f"false_positives={false_positives!r}: expected a positive number, e.g. 0.3."
        )
    if Y.ndim != 2 or len(Y) != n:
        raise ValueError(
            f"Y has shape {Y.shape}: expected ({n}, q), one row per row of the source."
        )
    always = tuple(sorted({int(v) for v in always_keep}))
    if always and (always[0] < 0 or always[-1] >= p):
        raise ValueError(f"always_keep={always}: expected column numbers from 0 to {p - 1}.")
    rows = make_rows(n, sample_weight, groups)
    if likelihood is None:
        response = make_response(Y, rows, robust, settings)
    else:
        response = make_likelihood(likelihood, rows, settings)
    return Sift(
        source,
        in_principal_axes(response, source),
        float(false_positives),
        interactions,
        always,
        say,
        settings,
        labels=feature_groups,
        constant=tuple(constant),
    )
