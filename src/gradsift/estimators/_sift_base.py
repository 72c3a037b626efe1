"""What both tasks of GradientSift share: parameters, checks, and the order of the steps."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

from sklearn.base import is_classifier

from gradsift._typing import Array, IntArray, Source
from gradsift.data import ScaledSource, take_rows
from gradsift.estimators._base import (
    GradientEstimator,
    blank,
    check_n_components,
    summary_attributes,
    warn_nothing_selected,
)
from gradsift.estimators._column_rule import check_column_rule
from gradsift.estimators._covariates import Covariates, check_covariates
from gradsift.estimators._description import EnsemblePart, MemberPart
from gradsift.estimators._families import inference_attributes
from gradsift.estimators._groups import check_groups, refuse_with_groups, warn_of_few_groups
from gradsift.estimators._offset import check_offset, offset_shift, refuse_with_offset
from gradsift.estimators._sample_weight import WeightKind, check_weights, warn_of_counts
from gradsift.estimators._sift_parts import (
    Interaction,
    RefitField,
    SiftFit,
    SiftOptions,
    beside_groups,
    find_support,
    fit_sift,
    open_sifter,
    seed_of,
)
from gradsift.estimators._sift_sample import SiftSample
from gradsift.estimators._sift_target import Labels, Numbers
from gradsift.estimators._validation import check_columns, check_fit_X
from gradsift.refit import Ensemble
from gradsift.refit.settings import RefitSettings
from gradsift.sift import Sifter, SiftSettings

NO_VARIABLE = (
    "Nothing stands out from noise at this level: ranking_ still orders all variables, a larger "
    "false_positives admits weaker ones."
)


class Sifting(GradientEstimator):
    """What a fitted sift has: its field, and what else may have a part in predictions."""

    field_: RefitField
    ensemble_: Ensemble | None
    refit_: Any
    interactions_: list[Interaction]
    false_positives: float
    false_discovery_rate: float | None
    predict_with: Literal["auto", "selected"]
    covariates_: Covariates | None
    has_offset_: bool

    sift_settings: ClassVar[SiftSettings] = SiftSettings()
    refit_settings: ClassVar[RefitSettings]

    def _blend(self, sparse: Array, X: Source) -> Array:
        """Predictions from the selected variables, averaged with those of predictors on all
        columns, if these have a part in them.
        """
        if self.ensemble_ is None or self.predict_with == "selected":
            return sparse
        # a view: only the columns that are used are read and standardised
        return self.ensemble_.blend(sparse, ScaledSource(X, self.field_.scaling))

    def _shift(self, n: int, covariates: Any, offset: Any) -> Array | float:
        """(n, q) part of predictions that does not come from X; 0 where there is none."""
        if self.covariates_ is None and covariates is not None:
            raise ValueError("covariates was given, but the model was fitted without any.")
        own = 0.0 if self.covariates_ is None else self.covariates_.shift(covariates, n)
        return own + offset_shift(offset, n, self.has_offset_, len(getattr(self, "classes_", ())))

    def _particulars(self) -> dict[str, Any]:
        return {
            "covariates": () if self.covariates_ is None else self.covariates_.names,
            "covariates_explain": 0.0 if self.covariates_ is None else self.covariates_.explained,
            "interactions": tuple((pair.first, pair.second) for pair in self.interactions_),
            "false_positives": float(self.false_positives),
            "families": getattr(self, "families_", None),
            "inclusion_probabilities": getattr(self, "inclusion_probabilities_", None),
            "significance": getattr(self, "significance_", None),
            "false_discovery_rate": self.false_discovery_rate,
            "ensemble": self._ensemble_part(),
        }

    def _ensemble_part(self) -> EnsemblePart | None:
        if (ensemble := self.ensemble_) is None:
            return None
        members = zip(ensemble.members, ensemble.shares, strict=True)
        parts = tuple(MemberPart(m.kind, share, m.n_columns) for m, share in members)
        return EnsemblePart(parts, self.predict_with == "auto")


@dataclass(eq=False, repr=False)
class GradientSift(Sifting):
    """Parameters of both tasks, and how they become options."""

    false_positives: float = 0.3
    _: KW_ONLY
    false_discovery_rate: float | None = None
    interactions: bool = True
    standardize: bool = True
    n_components: int | Literal["auto"] = "auto"
    always_keep: Any = None
    column_groups: Any = None
    max_features: int | None = None
    predict_with: Literal["auto", "selected"] = "auto"
    tol: float = 1e-3
    missing: Literal["error", "mean"] = "error"
    weight_kind: WeightKind = "frequency"
    smooth_covariates: bool = False
    inference: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _options(self, door: Any) -> SiftOptions:
        """The parameters, checked against the columns that `door` was told about."""
        p = door.n_features_in_
        check_n_components(self.n_components)
        if not 0.0 < self.false_positives < p + 1e-9:
            raise ValueError(
                f"false_positives={self.false_positives}: the expected number of false variables "
                f"lies above 0 and below the number of columns ({p})."
            )
        rate = self.false_discovery_rate
        if rate is not None and not 0.0 < rate < 1.0:
            raise ValueError(
                f"false_discovery_rate={rate}: the share of false variables among those selected "
                "lies above 0 and below 1; None selects by false_positives."
            )
        if not self.tol > 0:
            raise ValueError(f"tol={self.tol} must be positive.")
        if self.predict_with not in ("auto", "selected"):
            raise ValueError(f"predict_with={self.predict_with!r}: use 'auto' or 'selected'.")
        names = getattr(door, "feature_names_in_", None)
        kept = check_columns(self.always_keep, p, names, "always_keep")
        return SiftOptions(
            false_positives=self.false_positives,
            false_discovery_rate=rate,
            interactions=self.interactions,
            standardize=self.standardize,
            n_components=self.n_components,
            rule=check_column_rule(self.column_groups, kept, self.max_features, p),
            predict_with=self.predict_with,
            tol=self.tol,
            missing=self.missing,
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            sift=self.sift_settings,
            refit=self.refit_settings,
        )

    def _target(self, y: Array) -> Numbers | Labels:
        """A checked response of rows that count."""
        raise NotImplementedError

    def _sample(
        self,
        door: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
        offset: Any = None,
    ) -> SiftSample:
        """Checked rows that count; `door` is told about the columns and the covariates."""
        X, y = check_fit_X(door, X, y, y_numeric=not is_classifier(self))
        kept, weight = check_weights(sample_weight, X, self.weight_kind)
        codes = check_groups(groups, X, kept)
        door.covariates_, C = check_covariates(covariates, X, kept, weight, self.smooth_covariates)
        door.has_offset_ = offset is not None
        target = self._target(y[kept])
        if offset is not None:
            target = target.less(check_offset(offset, X, kept, target))
        return SiftSample(take_rows(X, kept), target, weight, codes, C)

    def _attributes(self, door: Any, sample: SiftSample, constant: str) -> dict[str, Any]:
        """Sift, then refit; `constant` is what predictions are where nothing is selected."""
        warn_of_counts(sample.weight, self.weight_kind)
        warn_of_few_groups(sample.groups, sample.one_per_group)
        for what in ("false_discovery_rate", "inference"):
            if getattr(self, what):
                refuse_with_groups(sample.groups, what)
                refuse_with_offset(sample.target, what)
        options = self._options(door)
        fit = fit_sift(sample, options)
        if len(fit.found.selected) == 0:
            others = "predictors on all columns (ensemble_)"
            constant = constant if sample.covariates is None else "the part of the covariates"
            warn_nothing_selected(constant if fit.ensemble is None else others, NO_VARIABLE)
        sure = inference_attributes(sample, fit, options) if self.inference else {}
        groups = None if sample.groups is None else int(sample.groups.max()) + 1
        known = {"n_groups_": groups, "covariates_": with_coefficients(door.covariates_, fit)}
        return sift_attributes(fit) | known | sure

    def _find_support(self, X: Any, y: Any, **fit_params: Any) -> IntArray:
        door = blank(self)
        return find_support(self._sample(door, X, y, **fit_params), self._options(door))

    def _sifter(
        self, X: Any, y: Any, columns: Any, **told: Any
    ) -> tuple[Sifter, IntArray | None, list[int], IntArray | None, int]:
        """The sift of a table, ready to run, its class numbers, the numbers of some columns, which
        columns are one variable, and how many there are beside covariates.
        """
        refuse_with_groups(getattr(self, "n_groups_", None), "significance()")
        door = blank(self)
        sample = self._sample(door, X, y, **told)
        refuse_with_offset(sample.target, "significance()")
        names = getattr(door, "feature_names_in_", None)
        also = check_columns(columns, door.n_features_in_, names, "columns")
        options = self._options(door)
        sifter = open_sifter(sample, options)
        groups, p = beside_groups(sample, options), door.n_features_in_
        return sifter, sample.target.codes, also.tolist(), groups, p


def with_coefficients(covariates: Covariates | None, fit: SiftFit) -> Covariates | None:
    """Covariates with the part that they have in predictions."""
    if covariates is None:
        return None
    return replace(
        covariates, coefficients=fit.covariate_coefficients, explained=fit.covariates_explain
    )


def sift_attributes(fit: SiftFit) -> dict[str, Any]:
    """The attributes of a fitted GradientSift."""
    tested = {} if fit.significance is None else {"significance_": fit.significance}
    return {
        **summary_attributes(fit),
        **tested,
        "sift_": fit.found,
        "refit_": fit.refit,
        "ensemble_": fit.ensemble,
        "interactions_": [Interaction(*pair) for pair in fit.found.interactions],
    }
