"""What both tasks of GradientSift share: parameters, checks, and the order of the steps."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data import ScaledSource, take_rows
from gradsift.data.mixed import TableEncoder
from gradsift.estimators._base import (
    GradientEstimator,
    blank,
    check_n_components,
    keep,
    summary_attributes,
    warn_nothing_selected,
)
from gradsift.estimators._column_rule import (
    ColumnRule,
    check_feature_groups,
    check_max_features,
)
from gradsift.estimators._covariate_terms import with_covariates
from gradsift.estimators._covariates import Covariates
from gradsift.estimators._description import EnsemblePart, MemberPart
from gradsift.estimators._findings import finding_attributes, refuse_findings
from gradsift.estimators._groups import check_groups, refuse_with_groups, warn_of_few_groups
from gradsift.estimators._mixed import (
    check_mixed_X,
    check_new_mixed_X,
    encoded_columns,
    encoded_labels,
    find_encoder,
    mixed_gradient,
    table_attributes,
)
from gradsift.estimators._offset import check_offset, offset_shift, refuse_with_offset
from gradsift.estimators._row_order import warn_of_repeats, warn_of_row_order
from gradsift.estimators._sample_weight import WeightKind, check_weights, warn_of_counts
from gradsift.estimators._sift_parts import (
    Interaction,
    RefitField,
    SiftFit,
    SiftOptions,
    find_support,
    fit_sift,
    open_sifter,
    seed_of,
)
from gradsift.estimators._sift_sample import SiftSample
from gradsift.estimators._sift_target import Labels, Numbers
from gradsift.estimators._validation import check_columns, check_fit_X, check_missing
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
    encoder_: TableEncoder | None
    false_positives: float
    false_discovery_rate: float | None
    predict_with: Literal["auto", "selected"]
    covariates_: Covariates | None
    has_offset_: bool
    feature_groups_: tuple[str, ...] | None
    variable_importances_: Array
    n_groups_: int | None

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
            "has_offset": self.has_offset_,
            "feature_groups": self.feature_groups_,
            "variable_importances": self._known_importances(),
            "encoder": self.encoder_,
            "interactions": tuple((pair.first, pair.second) for pair in self.interactions_),
            "false_positives": float(self.false_positives),
            "findings": getattr(self, "findings_", None),
            "confidence": getattr(self, "confidence_", None),
            "association": getattr(self, "association_", None),
            "significance": getattr(self, "significance_", None),
            "false_discovery_rate": self.false_discovery_rate,
            "ensemble": self._ensemble_part(),
        }

    def _known_importances(self) -> Array | None:
        """Importances of variables, where the model knows of some that are several columns."""
        same = np.array_equal(self.variable_importances_, self.feature_importances_)
        return None if same else self.variable_importances_

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
    feature_groups: Any = None
    max_features: int | None = None
    predict_with: Literal["auto", "selected"] = "auto"
    tol: float = 1e-3
    missing: Literal["error", "mean", "indicator"] = "error"
    weight_kind: WeightKind = "frequency"
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
        return SiftOptions(
            false_positives=self.false_positives,
            false_discovery_rate=rate,
            interactions=self.interactions,
            standardize=self.standardize,
            n_components=self.n_components,
            rule=self._rule(door),
            predict_with=self.predict_with,
            tol=self.tol,
            missing=check_missing(self),
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            sift=self.sift_settings,
            refit=self.refit_settings,
        )

    def _rule(self, door: Any) -> ColumnRule:
        """Which encoded columns go together, and how many may be selected."""
        check_max_features(self.max_features)
        p, names = door.n_features_in_, getattr(door, "feature_names_in_", None)
        kept = check_columns(self.always_keep, p, names, "always_keep")
        door.feature_groups_ = check_feature_groups(self.feature_groups, p, names)
        labels = None
        if door.feature_groups_ is not None:
            labels = np.unique(door.feature_groups_, return_inverse=True)[1]
        return ColumnRule(
            encoded_labels(labels, door.encoder_),
            encoded_columns(kept, door.encoder_),
            self.max_features,
            None if door.encoder_ is None else door.encoder_.origins,
        )

    def _target(self, y: Array, weight: Array | None) -> Numbers | Labels:
        """A checked response of rows that count, and how often they do."""
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
        check_missing(self)
        door.encoder_ = find_encoder(X, self.missing, y)
        if door.encoder_ is None:
            X, y = check_fit_X(door, X, y)
        else:
            X, y = check_mixed_X(door, door.encoder_, X, y)
        kept, weight = check_weights(sample_weight, X, self.weight_kind)
        counts = weight if self.weight_kind == "frequency" else None
        codes = check_groups(groups, X, kept, counts)
        door.has_offset_ = offset is not None
        target = self._target(y[kept], weight)
        if offset is not None:
            target = target.less(check_offset(offset, X, kept, target))
        sample = SiftSample(take_rows(X, kept), target, weight, codes)
        door.covariates_, sample = with_covariates(sample, covariates, X, kept)
        return sample

    def _attributes(
        self, door: Any, sample: SiftSample, constant: str, *, only_predicts: bool = False
    ) -> dict[str, Any]:
        """Sift, then refit; `constant` is what predictions are where nothing is selected."""
        warn_of_counts(sample.weight, self.weight_kind)
        warn_of_few_groups(sample.groups, sample.weight, sample.one_per_group)
        if not only_predicts:
            warn_of_repeats(sample)
        if self.false_discovery_rate:
            refuse_with_groups(sample.groups, "false_discovery_rate")
            refuse_with_offset(sample.target, "false_discovery_rate")
        if self.inference:
            refuse_findings(sample, "inference")
        options = replace(self._options(door), only_predicts=only_predicts)
        fit = fit_sift(sample, options)
        warn_of_row_order(sample, fit.found.residual, fit.field.scaling)
        if len(fit.found.selected) == 0:
            others = "predictors on all columns (ensemble_)"
            constant = constant if sample.covariates is None else "the part of the covariates"
            warn_nothing_selected(constant if fit.ensemble is None else others, NO_VARIABLE)
        sure = {}
        if self.inference and not only_predicts:
            sure = finding_attributes(sample, fit.found, fit.field.scaling, options)
        groups = None if sample.groups is None else int(sample.groups.max()) + 1
        known = {
            "n_groups_": groups,
            "covariates_": with_coefficients(door.covariates_, fit),
            "table_importances": fit.table_importances,
        }
        return sift_attributes(fit) | known | sure

    def _fit_sample(self, door: Any, sample: SiftSample, *, only_predicts: bool = False) -> Self:
        """Fit to a checked sample."""
        raise NotImplementedError

    def _fit_to_predict(self, X: Any, y: Any, **fit_params: Any) -> Self:
        door = blank(self)
        return self._fit_sample(door, self._sample(door, X, y, **fit_params), only_predicts=True)

    def _find_support(self, X: Any, y: Any, **fit_params: Any) -> IntArray:
        door = blank(self)
        found = find_support(self._sample(door, X, y, **fit_params), self._options(door))
        return found if door.encoder_ is None else np.unique(door.encoder_.origins[found])

    def _keep(self, door: Any, *, table_importances: Array, **found: Any) -> Self:
        """Take over a fit; of a table that was encoded, in the columns that it has, with the
        importances (encoded columns,) of those.
        """
        encoder = door.encoder_
        if encoder is None:
            return keep(self, door, encoded_=None, **found)
        inside = blank(self).set_params(
            missing=check_missing(self), always_keep=None, feature_groups=None
        )
        known = {"n_features_in_": len(encoder.names), "encoder_": None, "feature_groups_": None}
        known |= {"has_offset_": door.has_offset_, "encoded_": None}
        keep(inside, inside, **known, **found)
        told = table_attributes(found, table_importances, encoder)
        return keep(self, door, encoded_=inside, **told)

    def _new_samples(self, X: Any) -> Source:
        if self.encoder_ is None:
            return super()._new_samples(X)
        return check_new_mixed_X(self, X)

    def _gradient_parts(self, X: Any) -> tuple[Array, IntArray]:
        if self.encoder_ is None:
            return super()._gradient_parts(X)
        chosen = self.get_support(indices=True)
        return mixed_gradient(self, self._new_samples(X))[:, :, chosen], chosen

    def _sifter(
        self, X: Any, y: Any, columns: Any, **told: Any
    ) -> tuple[Sifter, IntArray | None, list[int], TableEncoder | None, int]:
        """The sift of a table, ready to run, its class numbers, the numbers of some columns, how
        the table was encoded, and how many encoded columns there are beside covariates.
        """
        # a model need not be fitted for this: then nothing is known of its groups
        refuse_with_groups(getattr(self, "n_groups_", None), "significance()")
        door = blank(self)
        sample = self._sample(door, X, y, **told)
        refuse_with_offset(sample.target, "significance()")
        names = getattr(door, "feature_names_in_", None)
        also = check_columns(columns, door.n_features_in_, names, "columns")
        sifter = open_sifter(sample, self._options(door))
        also = encoded_columns(also, door.encoder_)
        return sifter, sample.target.codes, also.tolist(), door.encoder_, sample.X.shape[1]


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
        "association_": fit.association,
        "refit_": fit.refit,
        "ensemble_": fit.ensemble,
        "variable_importances_": fit.variable_importances,
        "interactions_": [Interaction(*pair) for pair in fit.found.interactions],
        "n_paired_columns_": fit.n_paired,
    }
