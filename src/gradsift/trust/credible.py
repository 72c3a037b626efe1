"""Credible families of a sifted table, from source and response to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.sift import ChosenGroup, SiftSettings
from gradsift.sift.response import make_response
from gradsift.sift.rows import make_rows
from gradsift.trust.condense import condensed
from gradsift.trust.draws import DrawnResponse, Draws, FixedResponse, draw
from gradsift.trust.exchange import oriented
from gradsift.trust.families import (
    CredibleFamilies,
    FoundFamily,
    inclusion_probabilities,
    own_families,
    product_families,
)
from gradsift.trust.family_settings import DEFAULT, FamilySettings
from gradsift.trust.latent import LatentLabels
from gradsift.trust.pool import (
    Pool,
    Terms,
    kept_features,
    linear_features,
    make_pool,
    product_features,
    sift_terms,
)
from gradsift.trust.roughness import Roughness, largest, roughness_of_all, roughness_of_columns
from gradsift.trust.slots import Chains, Noise, start_chains


def find_families(
    source: Source,
    Y: Array,
    chosen: Sequence[ChosenGroup],
    *,
    codes: IntArray | None = None,
    always_keep: Sequence[int] = (),
    sample_weight: Array | None = None,
    n_columns: int | None = None,
    seed: int = 0,
    sift_settings: SiftSettings | None = None,
    settings: FamilySettings = DEFAULT,
) -> CredibleFamilies:
    """Families of the effects in a response.

    Parameters
    ----------
    source : Source
        Standardised columns, (n, p).
    Y : (n, q) array
        Response, or the contrasts of classes that were sifted.
    chosen : sequence of ChosenGroup
        What the sift selected: one slot for each of its terms, and a start of the chains.
    codes : (n,) int array, optional
        Class numbers, where the response is labels.
    always_keep : sequence of int
        Columns whose linear part is always in the model; families are beside them.
    sample_weight : (n,) array, optional
    n_columns : int, optional
        Columns from this number on are covariates, of which nothing is shown; None = there are
        none.
    seed : int
        The same seed gives the same bits.
    """
    sift_settings = sift_settings or SiftSettings()
    p, rng = source.shape[1], np.random.default_rng(seed)
    rows = make_rows(source.shape[0], sample_weight)
    response = make_response(Y, rows, codes is None, sift_settings)
    kept = kept_features(source, np.array(always_keep, dtype=np.intp), rows, sift_settings)
    terms = beside_kept(sift_terms(source, response, chosen), kept, rows.total)
    pool = make_pool(source, terms, kept, rows, sift_settings, settings)
    n_own = len(terms.own) + settings.spare_slots
    kinds = np.repeat([0, 1], [n_own, len(terms.products)])
    drawn: DrawnResponse = FixedResponse(Noise(unit=False, dof=rows.total - 1 - len(kept)))
    if codes is None:
        pool, terms = condensed(pool, terms)
    else:
        codes = codes if rows.kept is None else codes[rows.kept]
        labels = LatentLabels(codes, int(codes.max()) + 1, rows, kept)
        drawn, terms = labels, in_basis(terms, labels.start)
        pool = pointing(pool, labels.start[:, 0])
    chains = starting_chains(terms, n_own, settings.first_chains)
    draws = draw(pool, chains, kinds, drawn, rng, settings)

    def linear_of(columns: IntArray) -> Array:
        return linear_features(source, columns, rows, sift_settings)

    def feature_of(pairs: IntArray) -> Array:
        return product_features(source, pairs, kept, rows)[0]

    found = own_families(draws, linear_of, pool.own.prior, settings)
    found += product_families(draws, feature_of, linear_of, settings)
    inclusion = inclusion_probabilities(draws, p)
    inclusion[list(always_keep)] = 1.0
    families = [one.family for one in found]
    rough = roughness_of_all(draws)
    return CredibleFamilies(
        families=tuple(sorted(families, key=lambda f: (-f.probability, f.columns[0]))),
        inclusion_probabilities=inclusion,
        n_sweeps=len(draws.own.views) // n_own,
        disagreement=rough.disagreement,
        standard_error=rough.standard_error,
        shown=roughness_shown(draws, found, chosen, n_columns or p),
    )


def roughness_shown(
    draws: Draws, found: Sequence[FoundFamily], chosen: Sequence[ChosenGroup], p: int
) -> Roughness:
    """The roughness of what is shown of the first p columns: the families, their members and the
    selected columns.
    """
    families = [(own, one.roughness) for one in found if (own := one.family.among(p)) is not None]
    columns = {column for term in chosen for column in term.variables if column < p}
    for family, _ in families:
        columns.update(family.columns.tolist())
    return largest(
        [
            roughness_of_columns(draws, np.array(sorted(columns), dtype=np.intp)),
            *(roughness for _, roughness in families),
        ]
    )


def beside_kept(terms: Terms, kept: Array, total: float) -> Terms:
    """Terms without what orthonormal rows of `kept` (m, n) explain; those that vanish are left
    out.
    """
    if len(kept) == 0:
        return terms

    def rest(values: Array) -> Array:
        return np.asarray(values - kept.T @ (kept @ values) / total)

    own = [rest(fit) for fit in terms.own]
    return Terms(
        rest(terms.response),
        tuple(fit for fit in own if np.square(fit).sum() > 1e-6 * total),
        {pair: rest(fit) for pair, fit in terms.products.items()},
    )


def in_basis(terms: Terms, response: Array) -> Terms:
    """The same terms for another response (n, q) of the same classes."""
    change = np.linalg.lstsq(terms.response, response, rcond=None)[0]
    return Terms(
        response,
        tuple(fit @ change for fit in terms.own),
        {pair: fit @ change for pair, fit in terms.products.items()},
    )


def pointing(pool: Pool, response: Array) -> Pool:
    """The same candidates, their features turned to point where a response (n,) goes."""
    products = None if pool.products is None else oriented(pool.products, response)
    return replace(pool, own=oriented(pool.own, response), products=products)


def starting_chains(terms: Terms, n_own: int, count: int) -> Chains:
    """Chains of which the first half starts at the sift's fits, the others at nothing."""
    nothing = np.zeros((count, terms.response.shape[1], len(terms.response)))

    def start(fit: Array) -> Array:
        out = nothing.copy()
        out[: count // 2] = fit.T
        return out

    spare = [nothing] * (n_own - len(terms.own))
    fits = [*map(start, terms.own), *spare, *map(start, terms.products.values())]
    return start_chains(np.broadcast_to(terms.response.T, nothing.shape), fits)
