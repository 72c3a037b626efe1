"""Survival times: the partial likelihood of Cox.

Problem: rows i with a time t_i, an event or not (right censoring), perhaps an entry time (left
truncation) and a stratum; the hazard of row i is h_s(t) exp(eta_i), and the baseline hazard h_s of
each stratum is profiled out. With r_i = w_i exp(eta_i), the log partial likelihood is

    sum of w_i eta_i over events  -  sum over event times k and places l of  v_l log(S_k - u_l T_k),

where S_k is the sum of r over the rows at risk at time k, T_k its part of the rows that have their
event there, and the places l = 0, 1, .. of tied events (as many as their weights W_k) have
u_l = l / W_k and v_l = 1, the last one what W_k has beyond a whole number. Without weights this is
Efron's treatment of ties; a row of weight 2 counts exactly as two rows.

References
----------
:cite:`cox-1972`, with Breslow's discussion (216-217) for the baseline hazard; :cite:`efron-1977`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradsift.data.responses import check_all_known, to_floats
from gradsift.data.row_groups import group_codes
from gradsift.protocols import Array, IntArray
from gradsift.responses.likelihood import Likelihood

Records: TypeAlias = NDArray[Any]
"""(n,) survival times, an array of `RECORD`."""
RECORD = np.dtype([("time", float), ("event", bool), ("entry", float), ("stratum", int)])
"""One row: time of the event or of censoring, which of the two, time of entry, stratum."""
LEAST = 1e-10
"""Smallest information of a row: a row censored before the first event has none."""


@dataclass(frozen=True, eq=False)
class BaselineHazard:
    """What a fitted model keeps of survival times: Breslow's cumulative hazard at eta = 0.

    Attributes
    ----------
    times : tuple of (k,) arrays
        Event times of each stratum, increasing.
    cumulative : tuple of (k,) arrays
        The cumulative hazard after each of them.
    """

    times: tuple[Array, ...]
    cumulative: tuple[Array, ...]

    def predict(self, eta: Array) -> Array:
        """(n,) the risk: the log hazard less that of the mean row of the fit."""
        return np.asarray(eta[:, 0])

    def cumulative_hazard(self, eta: Array, times: Array, stratum: IntArray | int = 0) -> Array:
        """(n, m) cumulative hazards of rows with risk eta (n, 1) at some times (m,)."""
        strata = np.broadcast_to(self.known(stratum), len(eta))
        if np.isnan(times).any():
            raise ValueError("times holds nan: give numbers.")
        base = np.zeros((len(self.times), len(times)))
        for s, (at, H) in enumerate(zip(self.times, self.cumulative, strict=True)):
            base[s] = np.concatenate([[0.0], H])[np.searchsorted(at, times, side="right")]
        return np.asarray(np.exp(eta) * base[strata])

    def median(self, eta: Array, stratum: int = 0) -> Array:
        """(n,) the first event time of the fit by which half of the rows with risk eta (n, 1) have
        the event; infinite where fewer have it by the last one.
        """
        s = int(self.known(stratum))
        at = np.searchsorted(self.cumulative[s], np.log(2.0) * np.exp(-eta[:, 0]))
        return np.asarray(np.append(self.times[s], np.inf)[at])

    def known(self, stratum: IntArray | int) -> IntArray:
        """The numbers of strata, refused where the model has no such stratum."""
        if not np.isin(stratum, range(len(self.times))).all():
            raise ValueError(
                f"stratum={stratum!r}: the model has {len(self.times)}, numbered from 0 in the "
                "order of their labels."
            )
        return np.asarray(stratum)


@dataclass(frozen=True, eq=False)
class RiskSets:
    """The rows of one stratum, and at which event times they are at risk.

    Attributes
    ----------
    rows : (m,) int array
        Rows of the sample.
    times : (k,) array
        Event times, increasing.
    first, last : (m,) int arrays
        A row is at risk at the event times first .. last - 1.
    dead : int array
        Places in `rows` of those with an event.
    place : int array
        Event time of each of `dead`.
    at, share, counted : arrays
        Event time, u_l and v_l of each place of tied events.
    """

    rows: IntArray
    times: Array
    first: IntArray
    last: IntArray
    dead: IntArray
    place: IntArray
    at: IntArray
    share: Array
    counted: Array

    @classmethod
    def of(cls, rows: IntArray, y: Records, weight: Array) -> Self:
        """The risk sets of some rows of a sample."""
        time, event = y["time"][rows], y["event"][rows]
        times = np.unique(time[event])
        last = np.searchsorted(times, time, side="right")
        first = np.searchsorted(times, y["entry"][rows], side="right")
        dead = np.flatnonzero(event)
        place = last[dead] - 1
        ties = np.bincount(place, weight[rows][dead], len(times))
        places = np.ceil(ties - 1e-9).astype(np.intp)
        at = np.repeat(np.arange(len(times)), places)
        number = np.arange(len(at)) - np.repeat(np.cumsum(places) - places, places)
        counted = np.minimum(1.0, ties[at] - number)
        return cls(rows, times, first, last, dead, place, at, number / ties[at], counted)

    def at_risk(self, values: Array) -> Array:
        """(k, ...) sums of values (m, ...) over the rows at risk at each event time."""
        # from the last time to the first, so that large values of rows that left early do not
        # take the digits of the few that remain
        sums = np.zeros((len(self.times) + 1, *values.shape[1:]))
        np.add.at(sums, self.last, values)
        entered = np.zeros_like(sums)
        np.add.at(entered, self.first, values)
        left = np.cumsum(sums[:0:-1], axis=0)[::-1]
        late = np.cumsum(entered[:0:-1], axis=0)[::-1] if self.first.any() else 0.0
        return np.asarray(left - late)

    def of_events(self, values: Array) -> Array:
        """(k, ...) sums of values (m, ...) over the events at each event time."""
        out = np.zeros((len(self.times), *values.shape[1:]))
        np.add.at(out, self.place, values[self.dead])
        return out

    def in_places(self, values: Array) -> Array:
        """(places, ...) sums over the risk sets, less the shares of tied events."""
        share = self.share.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(self.at_risk(values)[self.at] - share * self.of_events(values)[self.at])


@dataclass(frozen=True, eq=False)
class Survival(Likelihood):
    """Survival times; `y` is an array of `RECORD`.

    Examples
    --------
    >>> y = Survival.of(survival_records([5.0, 3.0, 8.0], [True, False, True]))
    >>> y.score(np.zeros((3, 1)), np.ones(3)).round(2)[:, 0].tolist()
    [0.5, 0.0, -0.5]
    """

    fallback: ClassVar[str] = "one risk for all rows"

    @classmethod
    def of(cls, y: Records, weight: Array | None = None) -> Self:
        """The response of records y (n,), checked; weights have no influence."""
        counts = np.bincount(y["stratum"], y["event"])
        if y["event"].sum() < 2:
            raise ValueError(
                f"y holds {y['event'].sum()} events among {len(y)} rows: at least two are needed "
                "to compare who has one first. Does True (or 1) mark the event?"
            )
        if (counts == 0).all():
            raise ValueError("no stratum holds an event.")
        return cls(y)

    @classmethod
    def records(cls, y: object) -> Records:
        """Records of what a user passed as y, see `survival_of`."""
        return survival_of(y)

    @property
    def values(self) -> Array:
        """(n,) the times."""
        return np.asarray(self.y["time"])

    @cached_property
    def strata(self) -> tuple[IntArray, ...]:
        """Rows of each stratum."""
        stratum = self.y["stratum"]
        return tuple(np.flatnonzero(stratum == s) for s in range(stratum.max() + 1))

    def _pieces(self, eta: Array, weight: Array) -> Iterator[tuple[RiskSets, Array, Array, Array]]:
        """Risk sets of each stratum, log of the sizes r of its rows, r and their sums in places.

        Sizes are relative to the largest of the stratum, so that none overflows.
        """
        known = eta[:, 0] if self.offset is None else (eta + self.offset)[:, 0]
        for rows in self.strata:
            if not self.y["event"][rows].any():
                continue
            sets = RiskSets.of(rows, self.y, weight)
            e = known[rows] - known[rows].max()
            r = weight[rows] * np.exp(e)
            yield sets, e, r, np.maximum(sets.in_places(r), np.finfo(float).tiny)

    def deviance(self, eta: Array, weight: Array) -> float:
        total = 0.0
        for sets, e, _, sums in self._pieces(eta, weight):
            events = weight[sets.rows][sets.dead] @ e[sets.dead]
            total += float(events - sets.counted @ np.log(sums))
        return -2.0 * total

    def exposure(self, eta: Array, weight: Array) -> Array:
        """(n,) cumulative hazard of each row: the number of events expected of it."""
        out = np.zeros(len(eta))
        for sets, e, _, sums in self._pieces(eta, weight):
            k = len(sets.times)
            hazard = np.bincount(sets.at, sets.counted / sums, k)
            H = np.concatenate([[0.0], np.cumsum(hazard)])
            own = H[sets.last] - H[np.minimum(sets.first, sets.last)]
            own[sets.dead] -= np.bincount(sets.at, sets.counted * sets.share / sums, k)[sets.place]
            out[sets.rows] = np.exp(e) * own
        return out

    def score(self, eta: Array, weight: Array) -> Array:
        """(n, 1) martingale residuals: events, less those expected."""
        return np.asarray(self.y["event"] - self.exposure(eta, weight))[:, None]

    def start(self, weight: Array | None = None) -> Array:
        """(n, 1) the score at eta = 0: martingale residuals are at most 1. Of few events, their
        normal scores would say little but in which order the other rows were censored.
        """
        weight = np.ones(len(self.y)) if weight is None else weight
        return self.score(np.zeros((len(weight), 1)), weight)

    def information(self, eta: Array, weight: Array) -> Array:
        return np.maximum(self.exposure(eta, weight), LEAST)[:, None]

    def curvature(self, D: Array, eta: Array, weight: Array) -> Array:
        """(m, m) the exact second derivative: variances of D over the risk sets."""
        exposure = self.exposure(eta, weight)
        out = D.T @ ((weight * exposure)[:, None] * D)
        for sets, _, r, sums in self._pieces(eta, weight):
            means = sets.in_places(r[:, None] * D[sets.rows]) / sums[:, None]
            out -= means.T @ (sets.counted[:, None] * means)
        return np.asarray(out)

    def schoenfeld(self, z: Array, beta: float, weight: Array) -> tuple[Array, Array, Array]:
        """Of every event time (of every stratum), the sum over its events of z (n,) less its mean
        over the risk set, the variance of that, and the time; hazards are those of beta z.
        """
        found: list[tuple[Array, Array, Array]] = []
        for sets, _, r, sums in self._pieces(beta * z[:, None], weight):
            own, k = z[sets.rows], len(sets.times)
            mean = sets.in_places(r * own) / sums
            square = sets.in_places(r * own**2) / sums
            expected = np.bincount(sets.at, sets.counted * mean, k)
            spread = sets.counted * (square - mean**2)
            variance = np.asarray(np.bincount(sets.at, spread, k), dtype=float)
            found.append((sets.of_events(weight[sets.rows] * own) - expected, variance, sets.times))
        residual, variance, times = (np.concatenate(part) for part in zip(*found))
        return residual, variance, times

    def link(self, eta: Array, weight: Array) -> BaselineHazard:
        """Breslow's cumulative hazard of a row with eta = 0 and an offset of 0."""
        known = eta[:, 0] if self.offset is None else (eta + self.offset)[:, 0]
        times: list[Array] = []
        cumulative: list[Array] = []
        for rows in self.strata:
            sets = RiskSets.of(rows, self.y, weight)
            r = weight[rows] * np.exp(known[rows])
            sums = np.maximum(sets.in_places(r), np.finfo(float).tiny)
            hazard = np.bincount(sets.at, sets.counted / sums, len(sets.times))
            times.append(sets.times)
            cumulative.append(np.cumsum(hazard))
        return BaselineHazard(tuple(times), tuple(cumulative))


def survival_records(
    time: ArrayLike | None,
    event: ArrayLike | None,
    entry: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Records:
    """(n,) records of survival times.

    Parameters
    ----------
    time : (n,) array
        Time of the event, or of the last observation; not negative.
    event : (n,) array of bool or 0/1
        Whether the event was observed.
    entry : (n,) array, optional
        Time from which a row was observed (left truncation); below its time.
    strata : (n,) array of labels, optional
        Rows of the same label have the same baseline hazard.

    Returns
    -------
    records : (n,) array of `RECORD`

    Examples
    --------
    >>> survival_records([2.0, 3.5], [1, 0])["event"].tolist()
    [True, False]
    """
    t = to_floats(np.asarray(check_all_known(time)).ravel(), "y")
    if not (np.isfinite(t) & (t >= 0)).all():
        wrong = t[~(np.isfinite(t) & (t >= 0))][0]
        raise ValueError(f"a survival time is {wrong:g}: times are finite and not negative.")
    out = np.zeros(len(t), dtype=RECORD)
    out["time"], out["event"] = t, events(event, len(t))
    out["entry"] = -np.inf
    if entry is not None:
        start = to_floats(entry, "entry")
        if start.shape != t.shape or np.isnan(start).any():
            raise ValueError("entry is one number for each row, and none is missing.")
        if (start >= t).any():
            row = int(np.argmax(start >= t))
            raise ValueError(
                f"row {row} enters at {start[row]:g}, not before its time {t[row]:g}: it was "
                "never observed. Leave such rows out."
            )
        out["entry"] = start
    if strata is not None:
        out["stratum"] = group_codes(strata, len(t), "strata")
    return out


def survival_of(y: Any) -> Records:
    """(n,) records of a response of any usual form.

    Parameters
    ----------
    y : records of `survival_records`; a structured array with a field of truth values and one of \
times (as scikit-survival has it); a data frame or an array of two columns, of which one holds \
truth values or 0/1 (the event) and the other one times

    Examples
    --------
    >>> survival_of(np.array([[5.0, 1], [2.0, 0]]))["time"].tolist()
    [5.0, 2.0]
    """
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is not None:
        if set(fields) == set(RECORD.names or ()):
            return np.asarray(y, dtype=RECORD)
        columns = [np.asarray(y[name]) for name in fields]
    elif hasattr(y, "columns"):
        columns = [np.asarray(y[name]) for name in y.columns]
    else:
        table = np.asarray(y)
        columns = list(table.T) if table.ndim == 2 else []
    if len(columns) != 2:
        raise ValueError(
            "y has no events: pass event= with the times as y, a structured array as in "
            "scikit-survival, or a table of two columns, time and event."
        )
    for time, event in (columns, columns[::-1]):
        if event.dtype == bool or (is_zero_one(event) and not is_zero_one(time)):
            return survival_records(time, event)
    if is_zero_one(columns[1]):
        return survival_records(*columns)
    raise ValueError("one of the two columns of y holds the event: truth values, or 0 and 1.")


def is_zero_one(values: Array) -> bool:
    """Whether a column holds nothing but 0 and 1, or truth values."""
    if values.dtype.kind == "O":
        return all(
            isinstance(v, (bool, int, float, np.bool_, np.number)) and v in (0, 1)
            for v in values.tolist()
        )
    return values.dtype.kind in "biuf" and bool(np.isin(values, [0, 1]).all())


def events(event: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    """(n,) truth values of an event column of truth values or 0 and 1."""
    values = np.asarray(event)
    if values.shape != (n,):
        raise ValueError(f"event has shape {values.shape}, and there are {n} times.")
    if not is_zero_one(values):
        different = list(dict.fromkeys(values.tolist()))
        raise ValueError(
            f"event holds {', '.join(map(repr, different[:4]))}: it is True or 1 where the event "
            "was observed, False or 0 where the row was censored, and never missing."
        )
    return values.astype(bool)


def concordance(y: Records, risk: Array) -> float:
    """Harrell's concordance: the share of comparable pairs whose earlier event has the higher risk;
    ties in risk count one half.

    A pair is comparable if the row with the earlier time had its event while the other was at risk,
    in the same stratum.

    Examples
    --------
    >>> concordance(survival_records([1.0, 2.0, 3.0], [1, 0, 1]), np.array([3.0, 1.0, 2.0]))
    1.0

    References
    ----------
    :cite:`harrell-1982`
    """
    time, event = y["time"], y["event"]
    agree = comparable = 0.0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & ~event)
        later &= (y["stratum"] == y["stratum"][i]) & (y["entry"] < time[i])
        comparable += later.sum()
        agree += (risk[i] > risk[later]).sum() + 0.5 * (risk[i] == risk[later]).sum()
    return float(agree / comparable) if comparable else float("nan")
