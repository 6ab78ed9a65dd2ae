"""A class that is taught with three views after twenty others with 30 to 50, under each weighting of classes."""

from copy import deepcopy

import numpy as np

from icub_learning.experiments.recognition.views import Pools, accuracy, draw
from icub_learning.recognition.assembly import make_classifier
from icub_learning.recognition.settings import Settings

WEIGHTINGS = {
    "adaptive, none": Settings(weighting="none"), "adaptive, recoded (default)": Settings(),
    "least squares, none": Settings(classifier="rlsc", weighting="none"),
    "least squares, recoded": Settings(classifier="rlsc", recoding=0.7)
}  # fmt: skip
DEFAULT, RECODED = "adaptive, recoded (default)", "least squares, recoded"


def judge(
    pools: Pools, n_known: int, n_late: int, seed: int, few: int = 3, many: tuple[int, int] = (30, 50)
) -> dict[str, dict[str, float]]:
    """Teach the known classes, then each late class in turn to a copy of what was learned, and judge the copy.

    A known class is taught with all its views, but within `many`, a late one with `few`. Returns by
    weighting accuracies in [0, 1] of the "late" class and of the "others", means over the late classes.
    """
    enough = {name: views for name, views in pools.items() if len(views[0]) >= many[0]}
    known = draw(enough, n_known, many[0], seed)
    taught = {
        name: np.random.default_rng([seed, place]).permutation(enough[name][0])[: many[1]]  # same order as `draw`
        for place, name in enumerate(known.taught)
    }
    late = draw({name: views for name, views in pools.items() if name not in taught}, n_late, few, seed)
    found = {}
    for weighting, settings in WEIGHTINGS.items():
        base = make_classifier(settings, known.asked.shape[1])
        for name, rows in taught.items():
            base.learn(rows, name)
        accuracies = []
        for place, (name, rows) in enumerate(late.taught.items()):
            classifier = deepcopy(base)
            classifier.learn(rows, name)
            best = classifier.scores(np.concatenate([known.asked, late.asked[late.targets == place]])).argmax(axis=1)
            n_asked = len(known.asked)
            accuracies.append((np.mean(best[n_asked:] == n_known), accuracy(best[:n_asked], known.targets)))
        found[weighting] = dict(zip(("late", "others"), np.mean(accuracies, axis=0).tolist(), strict=True))
    return found
