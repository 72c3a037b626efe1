"""Boosting alone, behind the sift, and the sift's own predictions: R2 or accuracy of five folds.

PYTHONPATH=benchmarks python -m relatives.before_boosting
"""

from __future__ import annotations

import warnings

from relatives.measure import line
from selection.data_sets import real
from selection.designs import DESIGNS
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from gradsift import GradientSelector, GradientSiftClassifier, GradientSiftRegressor

TABLES = ("fried", "xor", "add200")

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    line("table", "rows x columns", "boosting", "sift, then boosting", "GradientSift")
    line(*["---"] * 5)
    for name in TABLES:
        case = DESIGNS[name](1700) if name in DESIGNS else real(name)
        if case.task == "regression":
            boosting, sift = HistGradientBoostingRegressor(random_state=0), GradientSiftRegressor()
            folds = KFold(5, shuffle=True, random_state=0)
        else:
            boosting, sift = (
                HistGradientBoostingClassifier(random_state=0),
                GradientSiftClassifier(),
            )
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
        models = boosting, make_pipeline(GradientSelector(sift), boosting), sift
        scores = [cross_val_score(m, case.X, case.y, cv=folds).mean() for m in models]
        size = f"{case.X.shape[0]} x {case.X.shape[1]}"
        line(name, size, *(f"{score:.2f}" for score in scores))
