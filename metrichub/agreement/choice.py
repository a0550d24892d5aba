"""`choose`: which metric agrees best with raters, measured on documents that it wasn't chosen by.

The choice on some rows is the output with the highest Kendall's tau-b in its card's direction.
Three times, each fold of documents gets the scores of the output that the other folds choose. Their
tau-b with the ratings is the agreement of the choice. A jackknife over documents has the interval;
a permutation test of the whole procedure says whether anything agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow
from metrichub.agreement.agreement_inputs import Inputs, Place
from metrichub.agreement.bootstrap import SEED, Drawn
from metrichub.agreement.coefficients import Options, auc, tau_b
from metrichub.agreement.rating_matrix import RatingMatrix
from metrichub.agreement.row_coefficients import pair_counts, tau_b_of
from metrichub.errors import InputError, ReportError
from metrichub.evaluation.distributions import student
from metrichub.evaluation.draws import in_one_thread
from metrichub.evaluation.resample import check_confidence

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
FOLDS, REPEATS, SHUFFLES, SPLITS = 5, 3, 99, 10
LEAST, FEW, LEAST_DOCUMENTS, LEAST_SYSTEMS = 20, 40, 8, 4
ALPHA, UNSCORED, LOWER = 0.05, 0.05, 0.05
WIDER = 1.3
"""The jackknife is too narrow by so much, as it doesn't see that other rows choose otherwise."""
LENGTH = "length in words"


@dataclass(frozen=True, repr=False, kw_only=True)
class ChosenOutput(Agreement):
    """The output that agrees best with raters, and how well on documents it wasn't chosen by.

    Its rows are the choice, the length of outputs, and the human ceiling and chance. `metric` is
    None if every output runs against its direction; `better` says which of its scores go with good
    ratings. `p` is the share of shuffled ratings that do as well. `folds` says in how many of the
    15 each output was chosen, `following` are the next four. `auc` is the area under the ROC curve,
    for yes and no; `unseen_systems` the tau-b on systems left out as well, of four or more.
    """

    metric: str | None
    better: str
    beats_length: bool
    p: float
    folds: Mapping[str, int]
    following: Sequence[str]
    auc: float
    unseen_systems: float
    outputs: Sequence[str]

    @property
    def agrees(self) -> bool:
        """Whether anything is shown to agree with the raters."""
        return self.metric is not None and self.p <= ALPHA

    def sentences(self) -> list[str]:
        """Whether anything agrees with the raters, better than length does, and what does best."""
        row = self.rows[0]
        nothing = f"No metric here is shown to agree with these raters on {row.dimension}."
        if self.metric is None:
            return [nothing, "All run against their directions."]
        name = f"{self.metric} (lower is better)" if self.better == "lower" else self.metric
        left_out = "documents" if self.data.items < self.data.samples else "outputs"
        measured = f"tau-b {with_interval(row)} on {left_out} it wasn't chosen by"
        if not self.agrees:
            return [nothing, f"The best, {name}, reaches {measured}."]
        said = [f"{name} agrees best with {row.dimension}: {measured}."]
        if not self.beats_length:
            length = with_interval(self.rows[1])
            said.append(f"It isn't shown to be better than the length ({length}).")
        return said

    def facts(self) -> list[str]:
        """The sizes, how shuffled ratings do, what comes next, and how to score with the choice."""
        data, row, every = self.data, self.rows[0], [self.metric, *self.following]
        number = len({name.partition(".")[0] for name in self.outputs})
        metrics = "1 metric" if number == 1 else f"{number} metrics"
        chosen = ", ".join(f"{name} ({self.folds.get(name, 0)})" for name in every if name)
        alone = "each output counts as a document (--item COLUMN groups them)"
        unseen = self.unseen_systems
        facts = [
            (True, f"{len(self.outputs)} outputs of {metrics}"),
            (True, f"{data.samples:,} ratings"),
            (True, f"{data.items:,} documents" if data.items < data.samples else alone),
            (data.samples < FEW, f"known to ±{short((row.high - row.low) / 2)}"),
            (True, f"shuffled ratings do as well in {self.p * (SHUFFLES + 1):.0f} of 100"),
            (chosen, f"chosen in folds (of {FOLDS * REPEATS}): {chosen}"),
            (not isnan(self.auc), f"AUC {short(self.auc)}"),
            (unseen < row.value - LOWER, f"on unseen systems {short(unseen)}"),
            (self.agrees, f"metrichub score new.jsonl -m {row.metric.partition('.')[0]}"),
        ]
        return [text for is_shown, text in facts if is_shown]

    def __repr__(self) -> str:
        """The sentences, the table and the facts."""
        return "\n".join([*self.sentences(), super().__repr__(), " · ".join(self.facts())])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        own = {name: getattr(self, name) for name in ChosenOutput.__annotations__}
        return {**own, "agrees": self.agrees, **super().to_dict()}


def short(value: float) -> str:
    """Two decimals without the zero before them, with a true minus."""
    # Adding 0 takes the sign from a value that rounds to 0.
    return f"{round(value, 2) + 0:.2f}".replace("0.", ".", 1).replace("-", "−")


def with_interval(row: AgreementRow) -> str:
    """The value with its interval, ".29 [.16, .41]"."""
    return f"{short(row.value)} [{short(row.low)}, {short(row.high)}]"


@in_one_thread
def choose(
    scores: Mapping[str, Any],
    ratings: Any,
    *,
    item: Iterable[Any] | None = None,
    system: Iterable[Any] | None = None,
    better: str | Mapping[str, str] = "higher",
    words: ArrayLike | None = None,
    lower_is_better: bool = False,
    confidence: float = 0.95,
    seed: int = SEED,
) -> ChosenOutput:
    """The output that agrees best with the ratings of N samples, judged on documents left out.

    >>> rng = np.random.default_rng(1)
    >>> quality = rng.normal(size=60)
    >>> scores = {name: rng.normal(size=60) for name in ("one", "two", "three")}
    >>> scores["good"] = quality + rng.normal(size=60)
    >>> print(*choose(scores, {"quality": quality.round()}).sentences())
    good agrees best with quality: tau-b .44 [.19, .64] on outputs it wasn't chosen by.

    Args:
        scores: output -> the scores of all samples; outputs that are constant, or that more than 5%
            of the rated samples lack, are left out.
        ratings: a rating per sample, a list of several raters', or None; or {dimension: these}.
        item: the document of each sample; without it, each sample is one of its own.
        system: the system that made each sample.
        better: "higher", "lower" or "neither", for all outputs or by name.
        words: the number of words of each sample, whose agreement is measured beside.
        lower_is_better: whether raters give good outputs low numbers.
        confidence: the confidence level of the intervals.
        seed: the seed of the folds and the shuffled ratings.

    Raises:
        InputError: ratings that are all equal, no output that differs between samples, or, as for
            `correlate`, scores and ratings that don't match.
        ReportError: fewer than 20 ratings or 8 documents.
    """
    check_confidence(confidence)
    named = ratings if isinstance(ratings, Mapping) else {"the ratings": ratings}
    inputs = Inputs.of_ratings(scores, named, (item, system), better, Options(), None)
    dimension, rated = next(iter(inputs.human.items()))
    rows, documents, systems = rated_rows(inputs)
    y = rated.mean[rows] * (-1 if lower_is_better else 1)
    columns = {name: values[rows] for name, values in inputs.scores.items()}
    columns = {name: values for name, values in columns.items() if _is_usable(values)}
    if not columns:
        raise InputError(f"none of the {len(scores)} outputs differs between rated samples")
    names, x = [*columns], np.stack([*columns.values()], 1)
    free = np.array([inputs.better[name] == "neither" for name in names])
    folds = [folds_of(documents, [seed, repeat]) for repeat in range(REPEATS)]
    rng = np.random.default_rng(seed)
    many = np.stack([y, *(shuffled(y, documents, rng) for _ in range(SHUFFLES))], 1)
    # The first folds judge the ratings as they judge the shuffled ones.
    parts = [left_out(x, ys, free, fold) for ys, fold in zip([many, y, y], folds, strict=True)]
    taus = np.nan_to_num(tau_b_of(pair_counts(parts[0][0].T, many.T)))
    by_choice = np.array([scores_of[:, 0] for scores_of, _ in parts])
    picks = Counter(names[k] for _, chosen in parts for k in chosen[:, 0] if k >= 0)
    values, best, signs = _choice(x, y[:, None], free)
    chosen, sign = names[best[0]], int(signs[0])
    place = Place(dimension, "pooled", "tau_b")
    agreement, without = estimated(by_choice, y, documents, confidence)
    measured, beats_length = {chosen: agreement}, True
    if words is not None:
        length = np.asarray(words, np.float64)[rows, None]
        by_length = [left_out(length, y, np.array([True]), fold)[0][:, 0] for fold in folds]
        measured[LENGTH], of_length = estimated(np.array(by_length), y, documents, confidence)
        gap = agreement[0] - measured[LENGTH][0]
        beats_length = bool(gap > half_width(without - of_length, confidence))
    measured |= {CEILING: (inputs.ceiling(place), nan, nan), CHANCE: (0.0, nan, nan)}
    following = [names[k] for k in distinct_orders(x, values[:, 0]) if values[k, 0] > 0]
    is_lower = sign < 0 or inputs.better[chosen] == "lower"
    labels = [auc(part, y == y.max()) for part in by_choice] if rated.of_labels else [nan]
    return ChosenOutput(
        rows=[
            AgreementRow(metric=name, **place._asdict(), value=value, low=low, high=high)
            for name, (value, low, high) in measured.items()
        ],
        data=inputs.facts()._replace(samples=len(y), items=int(documents.max()) + 1),
        drawn=Drawn("items", 0, seed),
        confidence=confidence,
        protocol=None,
        notes=[],
        metric=chosen if sign else None,
        better="lower" if is_lower else "higher",
        beats_length=beats_length,
        p=float((taus >= taus[0]).mean()),
        folds=dict(picks.most_common()),
        following=following[1:5],
        auc=float(np.mean(labels)),
        unseen_systems=_on_unseen_systems(x, y, free, documents, systems, seed),
        outputs=names,
    )


def rated_rows(inputs: Inputs) -> tuple[Integers, Integers, Integers]:
    """The rows with a rating, and the numbers of each one's document, by name, and of its system.

    Raises:
        InputError: all ratings are equal.
        ReportError: there are too few to choose by.
    """
    places, rated = inputs.places, next(iter(inputs.human.values())).mean
    assert isinstance(places, RatingMatrix)
    rows = np.flatnonzero(~np.isnan(rated))
    by_name = np.argsort(np.argsort([str(item) for item in places.items], kind="stable"))
    names, documents = np.unique(by_name[places.column[rows]], return_inverse=True)
    enough = {"ratings": (len(rows), LEAST), "documents": (len(names), LEAST_DOCUMENTS)}
    for what, (size, least) in enough.items():
        if size < least:
            more = f"rate {least - size} more (-m METRIC still correlates)"
            raise ReportError(f"{size} {what} are too few to choose a metric by; {more}")
    if not np.ptp(rated[rows]):
        raise InputError(f"all {len(rows)} ratings are {rated[rows][0]:g}; nothing to agree with")
    return rows, documents, places.row[rows] if places.named_systems else np.zeros_like(rows)


def folds_of(documents: Integers, seed: Any) -> Integers:
    """The fold of each row; the rows of a document share one."""
    fold = np.empty(int(documents.max()) + 1, np.int64)
    order = np.random.default_rng(seed).permutation(len(fold))
    for k, part in enumerate(np.array_split(order, min(FOLDS, len(fold)))):
        fold[part] = k
    return fold[documents]


def _ranks(x: Array) -> NDArray[np.float32]:
    """The dense ranks of each column's values, whose differences float32 has exactly."""
    ranks = [np.unique(column, return_inverse=True)[1] for column in x.T]
    return np.stack(ranks, 1).astype(np.float32)


def tau_b_columns(x: Array, y: Array) -> Array:
    """Kendall's tau-b of each column of x (n, m) with each of y (n, k), as (m, k)."""
    p, q = _ranks(x), _ranks(y)
    sums, of_x, of_y = np.zeros((x.shape[1], y.shape[1])), 0.0, 0.0
    for lag in range(1, len(x)):
        a, b = np.clip(p[lag:] - p[:-lag], -1, 1), np.clip(q[lag:] - q[:-lag], -1, 1)
        sums += a.T @ b
        of_x, of_y = of_x + np.abs(a).sum(0, float), of_y + np.abs(b).sum(0, float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / np.sqrt(of_x)[:, None] / np.sqrt(of_y))


def distinct_orders(x: Array, agreement: Array) -> list[int]:
    """The columns of x by agreement, without those that order the rows as an earlier one does."""
    ranks, columns = _ranks(x), dict[bytes, int]()
    for k in np.argsort(-agreement, kind="stable"):
        columns.setdefault(ranks[:, k].tobytes(), int(k))
    return [*columns.values()]


def _choice(x: Array, y: Array, free: NDArray[np.bool_]) -> tuple[Array, Integers, Array]:
    """Each output's tau-b in its direction (m, k), the best output (k,), and its sign (k,).

    `free` are outputs without a direction. The sign is 0 if even the best runs against its own.
    """
    taus = np.nan_to_num(tau_b_columns(np.where(np.isnan(x), np.nanmean(x, 0), x), y))
    values = np.where(free[:, None], np.abs(taus), taus)
    best = values.argmax(0)
    at = best, np.arange(len(best))
    return values, best, np.where(values[at] > 0, np.sign(taus[at]), 0)


def left_out(
    x: Array, y: Array, free: NDArray[np.bool_], folds: Integers
) -> tuple[Array, Integers]:
    """Each fold's scores (n, k) by the choice on the others, and these choices (folds, k).

    The scores are standardized by the others, where gaps are at the mean.
    """
    y = y.reshape(len(x), -1)
    scores, picks = np.zeros(y.shape), []
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        _, best, signs = _choice(x[~out], y[~out], free)
        spread = np.nanstd(x[~out], 0)
        standard = (x[out] - np.nanmean(x[~out], 0)) / np.where(spread, spread, 1)
        scores[out] = np.nan_to_num(standard)[:, best] * signs
        picks.append(np.where(signs, best, -1))
    return scores, np.array(picks)


def _is_usable(x: Array) -> bool:
    """Whether an output has different scores, and of nearly all rows."""
    scored = x[~np.isnan(x)]
    return len(scored) >= (1 - UNSCORED) * len(x) and bool(np.ptp(scored))


def shuffled(y: Array, documents: Integers, rng: np.random.Generator) -> Array:
    """The ratings of documents moved to others of as many rows, and within these."""
    moved, by_document = y.copy(), np.argsort(documents, kind="stable")
    sizes = np.bincount(documents)[documents[by_document]]
    for size in np.unique(sizes):
        rows = by_document[sizes == size].reshape(-1, size)
        moved[rows] = y[rng.permuted(rng.permutation(rows), axis=1)]
    return moved


def estimated(
    scores: Array, y: Array, documents: Integers, confidence: float
) -> tuple[tuple[float, float, float], Array]:
    """The mean tau-b of several scores (R, n), its interval, and each without a document (R, G)."""
    taus = np.array([_without_each(x, y, documents) for x in scores])
    value, without = float(taus[:, -1].mean()), taus[:, :-1]
    # At 1 Fisher's z has no value.
    inner = min(max(value, -1 + 1e-9), 1 - 1e-9)
    reach = half_width(without, confidence) / (1 - inner**2)
    low, high = np.tanh(np.arctanh(inner) + np.array([-reach, reach])).tolist()
    return (value, low, high), without


def half_width(without: Array, confidence: float) -> float:
    """Half the interval of a value, by its values without each document (R, G)."""
    freedom = without.shape[1] - 1
    error = np.sqrt(freedom * without.var(1)).mean()
    return float(WIDER * student(freedom, confidence) * error)


def _without_each(x: Array, y: Array, documents: Integers) -> Array:
    """Kendall's tau-b without each document (G,), then of all rows; 0 where it is undefined."""
    number = int(documents.max()) + 1
    # Of pairs: those in one order less those in two, those that x doesn't tie, and that y doesn't.
    total, touching = np.zeros((3, 1)), np.zeros((3, number))
    for lag in range(1, len(x)):
        a, b = np.sign(x[lag:] - x[:-lag]), np.sign(y[lag:] - y[:-lag])
        one, two = documents[lag:], documents[:-lag]
        for k, pairs in enumerate((a * b, a * a, b * b)):
            total[k] += pairs.sum()
            touching[k] += np.bincount(one, pairs, number)
            touching[k] += np.bincount(two, np.where(one == two, 0, pairs), number)
    same, of_x, of_y = np.hstack([total - touching, total])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(same / np.sqrt(of_x) / np.sqrt(of_y)))


def _on_unseen_systems(
    x: Array, y: Array, free: NDArray[np.bool_], documents: Integers, systems: Integers, seed: int
) -> float:
    """The tau-b on half of the systems and 40% of the documents, chosen on the others."""
    number, of_documents = int(systems.max()) + 1, int(documents.max()) + 1
    taus = []
    for split in range(SPLITS if number >= LEAST_SYSTEMS else 0):
        rng = np.random.default_rng([seed, REPEATS + split])
        new = np.isin(systems, rng.permutation(number)[: number // 2])
        left = np.isin(documents, rng.permutation(of_documents)[: round(0.4 * of_documents)])
        rows = new == left
        # Of these the new ones are fold 0, scored by the choice on fold 1.
        scores, _ = left_out(x[rows], y[rows], free, np.where(new, 0, 1)[rows])
        taus.append(tau_b(scores[new[rows], 0], y[new & left]))
    return float(np.nanmean(taus)) if np.isfinite(taus).any() else nan
