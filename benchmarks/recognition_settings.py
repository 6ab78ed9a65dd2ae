"""Measure how well objects taught in a few seconds each are named, over the settings of the recognition node.

Objects turn in the hand of the simulated iCub, five images a second. In each draw some objects are taught, one after
the other, with consecutive views; then later views are asked about, also of objects that were never taught.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.assembly import Settings, make_recognizer
from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.recognition.recognizer import ObjectRecognizer
from icub_learning.simulation.objects.scene import ObjectScene

OBJECTS = (
    "duck", "mug", "soccer_ball", "teddy", "wheel", "traffic_cone", "bunny", "domino", "lego", "hammer",
)  # fmt: skip
PERIOD = 0.2  # [s] between images
N_VIEWS, FIRST_ASKED, STEP = 150, 90, 2  # views of each object; every STEP-th one from FIRST_ASKED on is asked about
LATEST_START = FIRST_ASKED - 30  # bound of the first view of a lesson
N_TAUGHT, N_STRANGE, N_DRAWS = 6, 2, 8
LESSON, FEW = 20, 3  # views of a lesson, and of a short one for the last object
CHOSEN = Settings()
SHOWN = ("classifier", "regularization", "recoding", "smoothing_window", "reject_known")
SETTINGS = (
    CHOSEN,
    replace(CHOSEN, smoothing_window=1),
    replace(CHOSEN, reject_known=0.1),
    replace(CHOSEN, recoding=0.0),
    replace(CHOSEN, recoding=0.5),
    replace(CHOSEN, recoding=1.0),
    replace(CHOSEN, classifier="rlsc"),
)


def run(quick: bool) -> Result:
    """Judge all settings (quick: the default ones, two draws)."""
    features = views_of(OBJECTS)
    n_draws = 2 if quick else N_DRAWS
    rows = []
    for settings in tqdm(SETTINGS[:1] if quick else SETTINGS, unit="setting"):
        for last in (FEW, LESSON):
            row = {name: getattr(settings, name) for name in SHOWN}
            rows.append({**row, "views of the last": last, **judge(settings, features, last, n_draws)})
    remarks = [
        f"{n_draws} draws of {N_TAUGHT} of {len(OBJECTS)} objects, {LESSON} views each, of the last as it says.",
        "all, last: share of unseen views named right, unknown counts as wrong; worst draw: of all; largest score:",
        "share of views where it is that of the right object; strange: share of views of objects never taught",
        f"({N_STRANGE} a draw) that are called {UNKNOWN}.",
    ]
    return Result(rows, remarks)


def views_of(names: tuple[str, ...]) -> dict[str, NDArray[np.float32]]:
    """Return the features (N_VIEWS, d) of each object while it turns."""
    network = CNNFeatures()
    found = {}
    with ObjectScene(names) as scene:
        for name in tqdm(names, unit="object"):
            scene.show(name)
            found[name] = np.stack([network.transform(scene.render_turning(PERIOD * i)) for i in range(N_VIEWS)])
    return found


def judge(settings: Settings, features: dict[str, NDArray[np.float32]], last: int, n_draws: int) -> dict[str, Any]:
    """Return the shares of right answers over `n_draws` draws; the last object is taught with `last` views."""
    right, last_right, largest, strange = [], [], [], []
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        names = rng.permutation(list(features))[: N_TAUGHT + N_STRANGE].tolist()
        taught, never = names[:N_TAUGHT], names[N_TAUGHT:]
        recognizer = make_recognizer(settings)
        feed = feeder(recognizer)
        for place, name in enumerate(taught):
            count = last if place == N_TAUGHT - 1 else LESSON
            start = rng.integers(LATEST_START)
            recognizer.start_lesson(name, count)
            for x in features[name][start : start + count]:
                feed(x)
                recognizer.learn()
            recognizer.end_lesson()
        seen = {name: [feed(x, i == 0) for i, x in enumerate(features[name][FIRST_ASKED::STEP])] for name in names}
        right.append(np.mean([[one.label == name for one in seen[name]] for name in taught]))
        last_right.append(np.mean([one.label == taught[-1] for one in seen[taught[-1]]]))
        best = [[one.labels[int(np.argmax(one.scores))] == name for one in seen[name]] for name in taught]
        largest.append(np.mean(best))
        strange.append(np.mean([[one.label == UNKNOWN for one in seen[name]] for name in never]))
    return {
        "all": round(float(np.mean(right)), 3),
        "worst draw": round(float(np.min(right)), 3),
        "last": round(float(np.mean(last_right)), 3),
        "largest score": round(float(np.mean(largest)), 3),
        "strange": round(float(np.mean(strange)), 2),
    }


def feeder(recognizer: ObjectRecognizer) -> Callable[..., Any]:
    """Return a function that recognizes vectors in turn; `anew` is after a pause, so that none before it counts."""
    stamp = 0

    def feed(x: NDArray[np.float32], anew: bool = False) -> Any:
        nonlocal stamp
        stamp += round(1e9 * (60.0 if anew else PERIOD))
        return recognizer.recognize(stamp, "network", x)

    return feed
