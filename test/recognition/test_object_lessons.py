"""The purpose of recognition: objects taught by views of the simulated eye are recognized in unseen views."""

import numpy as np
import pytest

from benchmarks import objects
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.simulation import UNSEEN, ObjectScene


@pytest.fixture(scope="module")
def network() -> CNNFeatures:
    return CNNFeatures()


@pytest.mark.long
def test_six_objects_and_the_last_one_with_three_views(network: CNNFeatures, renderer: None) -> None:
    names = ["duck", "teddy", "mug", "soccer_ball", "wheel", "traffic_cone"]
    with ObjectScene(names, seed=11) as shown:

        def look(name: str, first: int, count: int) -> np.ndarray:
            shown.show(name)
            return np.array([network.transform(shown.render(first + k)) for k in range(count)], dtype=float)

        seen = {name: look(name, 0, 10) for name in names}
        unseen = {name: look(name, UNSEEN, 8) for name in names}
    classifier = make_classifier(Settings(), network.n_features)
    for name in names[:5]:
        classifier.learn(seen[name], name)

    def right(name: str) -> float:
        return float(np.mean([label == name for label in classifier.predict(unseen[name])]))

    classifier.learn(seen[names[5]][:3], names[5])
    assert right(names[5]) >= 0.8
    assert np.mean([right(name) for name in names[:5]]) >= 0.95
    classifier.learn(seen[names[5]][3:], names[5])
    assert np.mean([right(name) for name in names]) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("way", ["_drawn", "_turned"])
def test_any_six_of_all_objects(network: CNNFeatures, renderer: None, way: str) -> None:
    with ObjectScene(seed=5) as shown:
        seen, unseen = objects.features(shown, network, *getattr(objects, way)(shown))
    found = objects.judge(seen, unseen, 60, 5)
    assert found["six"] >= 97
    assert found[">= 95"] >= 90
    assert found["last"] >= 93
    assert found[">= 80"] >= 85
    assert found["others then"] >= 95
