"""What the recognizer says of known and of unknown objects after lessons: labels, confidence and typicality."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from icub_learning.arrays import Array
from icub_learning.experiments.recognition.views import Pools, accuracy, draw
from icub_learning.recognition.assembly import make_recognizer
from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.recognition.settings import DEFAULTS, Settings

PAUSE = 60_000_000_000  # time between views [ns], so that each is judged by itself
BINS = 10  # bins of confidence in the calibration error
FALSE_REJECTIONS = 0.05  # share of known views rejected at which rejections of unknown views are compared


@dataclass(frozen=True)
class Judged:
    """Figures of one draw, all of them shares in [0, 1]."""

    largest: float  # accuracy of the largest score on known objects, classes counting alike
    label: float  # accuracy of the label, for which "unknown" is wrong
    calibration: float  # expected calibration error of confidence, see `calibration_error`
    confidence: float  # mean confidence in views of known objects
    auroc: float  # area under the ROC curve of typicality, known against unknown
    rejected: float  # unknown views whose typicality is below that of all but FALSE_REJECTIONS of the known ones
    false_rejections: float  # known views that are called unknown by the shipped `reject_known`
    true_rejections: float  # unknown views that are called unknown by `reject_known`


def judge(pools: Pools, n_known: int, n_unknown: int, n_views: int, seed: int, settings: Settings = DEFAULTS) -> Judged:
    """Teach a recognizer object after object in lessons of `n_views` frames, as the node does; judge it on others."""
    drawn = draw(pools, n_known, n_views, seed, n_unknown)
    recognizer, stamp = make_recognizer(settings), 0
    for label, rows in drawn.taught.items():
        recognizer.start_lesson(label, len(rows))
        for row in rows:
            stamp += PAUSE
            recognizer.recognize(stamp, "network", row)
            recognizer.learn()
        recognizer.end_lesson()
    found = [recognizer.recognize(stamp + PAUSE * (place + 1), "network", row) for place, row in enumerate(drawn.asked)]
    places = {label: place for place, label in enumerate(drawn.taught)} | {UNKNOWN: -1}
    known = drawn.targets >= 0
    nearest, labels = (np.array([places[getattr(one, what)] for one in found]) for what in ("nearest", "label"))
    confidence, typicality = (np.array([getattr(one, what) for one in found]) for what in ("confidence", "typicality"))
    right = (nearest == drawn.targets)[known]
    bound = np.quantile(typicality[known], FALSE_REJECTIONS)
    return Judged(
        largest=accuracy(nearest[known], drawn.targets[known]), label=accuracy(labels[known], drawn.targets[known]),
        calibration=calibration_error(confidence[known], right), confidence=float(confidence[known].mean()),
        auroc=auroc(typicality[known], typicality[~known]), rejected=float((typicality[~known] < bound).mean()),
        false_rejections=float((labels[known] < 0).mean()), true_rejections=float((labels[~known] < 0).mean()),
    )  # fmt: skip


def calibration_error(confidence: Array, right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error: how far confidence (n,) is from accuracy in ten bins of it, on average."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(float((confidence - right)[bins == place].sum())) for place in range(BINS)]
    return sum(gaps) / len(confidence)


def auroc(known: Array, unknown: Array) -> float:
    """Return the area under the ROC curve: how often a known view scores higher than an unknown one, ties by half."""
    return float(roc_auc_score(np.repeat([True, False], [len(known), len(unknown)]), np.concatenate([known, unknown])))
