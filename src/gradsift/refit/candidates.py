"""The candidate kernels and the choice among them.

Four descriptions of a function of few variables, each tuned by its own evidence:

    ard       one length scale per variable
    rotated   one length scale per direction; directions = eigenvectors of the gradient covariance
              of the ard fit, F'F / n, so that a function of a few projections becomes easy
    anova     additive plus interactions
    linear    ridge regression

Larger families reach a larger evidence by chance. The chosen kernel has the smallest
-log evidence + penalty: half a nat (labels: one) for each of the d (d - 1) / 2 angles of a
rotation, one nat less per length scale that the linear kernel does without (labels: none). The
anova kernel carries its own weak priors instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradsift._typing import Array
from gradsift.numerics.ard_kernels import Anova, ArdGaussian, ArdKernel, DotProduct
from gradsift.refit.evidence import EvidenceFit, Hope, Rows, maximise_evidence
from gradsift.refit.expansion import pivoted_features
from gradsift.refit.ridge import solve_ridge
from gradsift.refit.settings import RefitSettings


@dataclass(frozen=True, eq=False)
class Candidate:
    """A tuned kernel and its score, -log evidence + penalty (smaller is better)."""

    fit: EvidenceFit
    score: float

    @property
    def kernel(self) -> ArdKernel:
        return self.fit.kernel


def untuned_ard(d: int, settings: RefitSettings) -> tuple[ArdGaussian, float]:
    """The Gaussian kernel of length scales sqrt(d) and the noise ratio from which tuning starts."""
    return ArdGaussian(np.full(d, 0.5 * np.log(d)), prior=settings.prior(d)), settings.start_noise


def fit_ard(rows: Rows, settings: RefitSettings, start: EvidenceFit | None = None) -> EvidenceFit:
    """The first candidate, from the untuned kernel or from an earlier fit."""
    if start is not None:
        return maximise_evidence(start.kernel, rows, np.log(start.noise_ratio))
    kernel, noise_ratio = untuned_ard(rows.X.shape[1], settings)
    return maximise_evidence(kernel, rows, np.log(noise_ratio))


def fit_rotated(rows: Rows, settings: RefitSettings, ard: EvidenceFit) -> EvidenceFit:
    """The best of up to five rotations, each in the axes of the fit before.

    Better axes give a better gradient and so better axes again. The loop ends when a round wins
    less than half a nat, or when the first rotation is not worth its angles: later rounds win
    little.
    """
    best = rotate(rows, settings, ard)
    if best.loss + angles_cost(rows, settings) > ard.loss:
        return best
    for _ in range(settings.rotation_rounds - 1):
        following = rotate(rows, settings, best)
        gain = best.loss - following.loss
        best = following if gain > 0.0 else best
        if gain < settings.rotation_gain:
            break
    return best


def angles_cost(rows: Rows, settings: RefitSettings) -> float:
    """Nats that the angles of a rotation cost."""
    d = rows.X.shape[1]
    return float(settings.per_angle * d * (d - 1) / 2)


def rotate(rows: Rows, settings: RefitSettings, previous: EvidenceFit) -> EvidenceFit:
    """A Gaussian in the eigenvectors of the gradient covariance of the previous fit.

    Under the prior, the slope along an axis has variance s / l^2. Matching this to the eigenvalue
    gives the length scale to start from.
    """
    d = rows.X.shape[1]
    eigenvalues, axes, scale = gradient_axes(rows, previous)
    log_scales = 0.5 * np.log(scale / np.maximum(eigenvalues, 1e-12 * scale))
    kernel = ArdGaussian(np.clip(log_scales, np.log(0.3), np.log(30.0)), axes, settings.prior(d))
    return maximise_evidence(kernel, rows, np.log(previous.noise_ratio))


def gradient_axes(rows: Rows, fit: EvidenceFit) -> tuple[Array, Array, float]:
    """Falling eigenvalues and eigenvectors of sum_c F_c'W F_c / sum w, and the sum of the s_c."""
    features = pivoted_features(fit.kernel, rows.X)
    ridge = solve_ridge(features, fit.noise_ratio, rows)
    F = features.expansion(ridge.beta).gradient(rows.X)
    total = rows.weights.sum()
    covariance = np.einsum("cni,n,cnj->ij", F, rows.weights / total, F, optimize=True)
    eigenvalues, axes = np.linalg.eigh(covariance)
    # in the order in which a pickle stores it: products with it are the same bits after loading
    axes = np.ascontiguousarray(axes[:, ::-1])
    return eigenvalues[::-1], axes, float(ridge.scale.sum())


def fit_anova(rows: Rows, settings: RefitSettings, to_beat: float) -> EvidenceFit:
    """Product kernel from c = 1/2, l = 3; given up early when it cannot come down to `to_beat`."""
    d = rows.X.shape[1]
    kernel = Anova(np.full(d, np.log(0.5)), np.full(d, np.log(3.0)))
    hope = Hope(settings.anova_trial, to_beat + settings.anova_hope)
    return maximise_evidence(kernel, rows, np.log(settings.start_noise), hope=hope)


def rank_candidates(
    rows: Rows, settings: RefitSettings, ard: EvidenceFit | None = None
) -> list[Candidate]:
    """All candidates, best first. `ard` may bring a fit on these very rows from an earlier step."""
    d = rows.X.shape[1]
    ard = fit_ard(rows, settings) if ard is None else ard
    # responses are centred on these rows, which may be a sample of those that centred the columns
    centred = replace(rows, X=rows.X - rows.weights @ rows.X / rows.weights.sum())
    linear = maximise_evidence(DotProduct(d), centred, np.log(settings.start_noise))
    found = [
        Candidate(ard, ard.loss),
        Candidate(linear, linear.loss + settings.linear_per_variable * d),
    ]
    if 1 < d <= settings.most_rotated:
        rotated = fit_rotated(rows, settings, ard)
        found.append(Candidate(rotated, rotated.loss + angles_cost(rows, settings)))
    if d > 1:
        anova = fit_anova(rows, settings, min(c.score for c in found))
        found.append(Candidate(anova, anova.loss))
    return sorted(found, key=lambda candidate: candidate.score)
