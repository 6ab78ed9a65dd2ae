"""Measure how often unseen views get the right name, if the simulated iCub is taught each object by a few views."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.arrays import Array
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.simulation import UNSEEN, ObjectScene

LESSON = 20  # views that an object is taught with, and number of its unseen views
FEW = 3  # views of the object taught last
N_OBJECTS = 6
SEEDS = (0, 1, 2)  # seeds of the scene
CHOICES = 100  # random choices of N_OBJECTS among all, in random order
FRAME_PERIOD = 0.1  # [s] default period of the node's images
APART = 100.0  # [s] from a lesson to its unseen views, and from these to the next lesson

Shot = Callable[[int, int], Any]  # maps an object's place and a view's number to a picture


def run(quick: bool) -> Result:
    """Judge views drawn one by one, and those of a lesson with the simulation's node (quick: one seed)."""
    network = CNNFeatures()
    rows = []
    for seed in SEEDS[:1] if quick else SEEDS:
        with ObjectScene(seed=seed) as scene:
            for way, shots in (("drawn one by one", _drawn(scene)), ("turned, 10 Hz", _turned(scene))):
                seen, unseen = features(scene, network, *shots)
                rows.append({"views": way, "seed": seed, **judge(seen, unseen, CHOICES, seed)})
    remarks = [
        f"{CHOICES} choices of {N_OBJECTS} among {len(scene.names)} objects, {LESSON} views of each taught and as many "
        "unseen ones asked about.",
        f"last: the last of the {N_OBJECTS} taught with its first {FEW} views only, after the others with {LESSON}; "
        "others then: what is left of those.",
        "[%] of unseen views named rightly: mean and lowest of the choices, and share of choices that reach 95 or 80.",
        f"features of EfficientNet-Lite0, classifier with the node's defaults: {Settings()}",
    ]
    return Result(rows, remarks)


def features(scene: ObjectScene, network: CNNFeatures, lesson: Shot, unseen: Shot) -> tuple[Array, Array]:
    """Return the features of all objects' lesson views and unseen views, (n_objects, LESSON, n_features) each."""
    found: tuple[list[list[Array]], list[list[Array]]] = ([], [])
    for place, name in enumerate(tqdm(scene.names, unit="object")):
        scene.show(name)
        for kept, shot in zip(found, (lesson, unseen), strict=True):
            kept.append([network.transform(shot(place, view)).astype(float) for view in range(LESSON)])
    return np.array(found[0]), np.array(found[1])


def judge(seen: Array, unseen: Array, choices: int, seed: int) -> dict[str, Any]:
    """Teach random choices of objects; return the shares of unseen views with the right name, in percent."""
    rng = np.random.default_rng(seed)
    scores = [_teach(seen, unseen, rng.permutation(len(seen))[:N_OBJECTS]) for _ in range(choices)]
    six, last, others = 100 * np.array(scores).T
    return {
        "six": round(six.mean(), 1),
        "lowest": round(six.min(), 1),
        ">= 95": round(100 * np.mean(six >= 95)),
        "last": round(last.mean(), 1),
        "its lowest": round(last.min(), 1),
        ">= 80": round(100 * np.mean(last >= 80)),
        "others then": round(others.mean(), 1),
    }


def _teach(seen: Array, unseen: Array, chosen: Array) -> tuple[float, float, float]:
    """Return the share of right names of all, taught by LESSON views, and of the last and the others if it has FEW."""
    classifier = make_classifier(Settings(), seen.shape[-1])
    *first, last = (int(place) for place in chosen)
    for place in first:
        classifier.learn(seen[place], str(place))
    few = type(classifier).from_state(classifier.state())
    few.learn(seen[last, :FEW], str(last))
    classifier.learn(seen[last], str(last))

    def right(learner: Any, places: list[int]) -> float:
        return float(np.mean([name == str(place) for place in places for name in learner.predict(unseen[place])]))

    return right(classifier, [*first, last]), right(few, [last]), right(few, first)


def _drawn(scene: ObjectScene) -> tuple[Shot, Shot]:
    return (lambda _, view: scene.render(view)), (lambda _, view: scene.render(UNSEEN + view))


def _turned(scene: ObjectScene) -> tuple[Shot, Shot]:
    """Return the shots of a lesson as the node gives it, and of unseen views at later times, 0.37 s apart."""

    def start(place: int) -> float:
        return 3.0 + 2 * APART * place

    return (
        lambda place, view: scene.render_turning(start(place) + FRAME_PERIOD * view),
        lambda place, view: scene.render_turning(start(place) + APART + 0.37 * view),
    )
