"""The minibootstrap: which negatives of each batch it learns from, and the bank gives FALKON's scores."""

from unittest.mock import Mock

import numpy as np
import pytest

from icub_learning.detection import region_classifier as regions
from icub_learning.detection.backbone import FeatureMaps
from icub_learning.detection.bootstrap import Bootstrap, falkon, train
from icub_learning.detection.boxes import moved, overlaps
from icub_learning.errors import ParameterError, StateError

D = 6


def test_hard_negatives_are_found():
    """Many easy negatives, and a few hard ones close to the positives."""
    rng, place = np.random.default_rng(0), 4.0 * np.ones(D)
    near = place + 4.0 * np.eye(D)[0]
    negatives = np.concatenate([3.0 * rng.normal(size=(3000, D)) - place, near + 0.7 * rng.normal(size=(30, D))])
    there, elsewhere = place + rng.normal(size=(300, D)), near + 0.7 * rng.normal(size=(300, D))
    positives, make = place + rng.normal(size=(60, D)), falkon(100, 4.0, 1e-4, 0)
    strategies = Bootstrap("minibootstrap", 10, 300), Bootstrap("full", batch_size=300), Bootstrap("random", 1, 60)
    found = [train(positives, negatives, make, strategy, np.random.default_rng(1)) for strategy in strategies]
    mini, full, random = ((one.predict(there) < 0).mean() + (one.predict(elsewhere) > 0).mean() for one, _ in found)
    assert mini < random and mini <= full + 0.05
    first = train(positives, negatives, make, Bootstrap("minibootstrap", 1, 300), np.random.default_rng(1))
    assert len(first[1]) == 300 and len(found[0][1]) < 1000


def test_of_each_batch_what_scores_high_joins_and_what_scores_low_leaves_and_strategies_bound_what_is_kept():
    in_order, plain = Mock(permutation=np.arange), lambda *_: Mock(predict=lambda samples: samples[:, 0])
    first, later = [-0.95, -0.9, 0.0, -0.7, -0.69, -1.0], [-1.0, -0.8, -0.71, 0.3]
    for bootstrap, expected in (
        (Bootstrap("minibootstrap", 3, 3), [-0.9, 0.0, -0.69]), (Bootstrap("random", 2, 3), first),
        (Bootstrap("full", 1, 3), [-0.9, 0.0, -0.69, 0.3]),
    ):  # fmt: skip
        _, pool = train(np.ones((2, 1)), np.array([*first, *later])[:, None], plain, bootstrap, in_order)
        assert pool[:, 0].tolist() == expected
    for n, copies in ((0, 1), (4, 1), (5, 2), (100, 20)):  # a third as many positives as negatives, at most 20 times
        classifier, _ = train(np.ones((1, 1)), -np.ones((n, 1)), plain, Bootstrap("random", 1, 100), in_order)
        assert classifier.fit.call_args.args[1].tolist() == [1.0] * copies + [-1.0] * n
    settings = {"length_scale": 4.0, "regularization": 1e-4, "random_state": 7, "max_iter": 20, "tol": 0.01}
    for n, centers in ((1, 1), (150, 75), (300, 100)):
        found = falkon(100, 4.0, 1e-4, 7)(np.zeros((n, 2)), None).get_params()
        assert found == found | settings | {"n_centers": centers, "n_preconditioner": 0}
    for name, bad in (("strategy", "best"), ("n_batches", 0), ("batch_size", 0)):
        with pytest.raises(ParameterError, match=name):
            Bootstrap(**{name: bad})
    assert (Bootstrap(n_batches=1, batch_size=1).most_positives, Bootstrap().most_positives) == (0, 3333)
    assert Bootstrap().most_waiting == Bootstrap("random").most_waiting == (4 * 3333, 40_000)
    assert Bootstrap("full").most_waiting == (4 * 3333, np.inf)


def test_regions_of_an_object_overlap_its_box_and_other_regions_hardly_do():
    maps, box = FeatureMaps(200, 100, {}, np.ones(2)), np.array([50.0, 20.0, 110.0, 80.0])
    proposals = box + np.array([[15], [16], [32], [33]]) * [1, 0, 1, 0]  # 15 of 60 px are an overlap of 0.6
    boxes, steps = regions.positive_boxes(box, proposals, maps, Mock(normal=lambda size: np.ones(size)))
    copy = np.add.outer([-30 * np.exp(0.15), 30 * np.exp(0.15)], [87.2, 57.2]).ravel()  # one standard deviation away
    np.testing.assert_allclose(boxes, [box, *[copy] * 8, proposals[0]])
    np.testing.assert_allclose(moved(boxes, steps, 200, 100), np.tile(box, (10, 1)))
    frame = regions.Frame(b"", maps, proposals, np.arange(4)[:, None], [("mug", box), ("cup", proposals[3])])
    assert overlaps(proposals, box[None])[2, 0] > 0.3 and frame.negatives("mug").tolist() == [[3]]
    assert frame.negatives("cup").tolist() == []


def test_bank_scores_as_falkon_predicts():
    rng, place = np.random.default_rng(0), np.full(D, 4.0)
    positives, negatives = (center + rng.normal(size=(n, D)) for center, n in ((place, 60), (place / 2, 3000)))
    asked, made, scores, refinement = place + rng.normal(size=(300, D)), [], [], np.zeros((D + 1, 4))
    for seed in (0, 1):
        make = falkon(50, 4.0, 1e-4, seed)
        classifier, pool = train(positives, negatives, make, Bootstrap(), np.random.default_rng(2))
        numbers = classifier.centers_, np.ravel(classifier.dual_coef_), positives, pool
        centers, coefficients, own, hard = (np.asarray(value, np.float32) for value in numbers)
        made.append(regions.RegionClassifier(centers, coefficients, refinement, own, np.zeros((len(own), 4)), hard))
        scores.append(classifier.predict(asked))
    bank = regions.ClassifierBank(made, 4.0)
    np.testing.assert_allclose(bank.scores(asked.astype(np.float32)), np.stack(scores, axis=1), atol=2e-3)
    for name, value in made[0].state().items():
        with pytest.raises(StateError, match=f"{name} has shape"):
            regions.RegionClassifier.from_state({**made[0].state(), name: value[..., 1:]}, D)


@pytest.mark.parametrize("n", [4, 40])
def test_refinement_is_ridge_regression_with_a_free_constant(n):
    rng = np.random.default_rng(3)
    x, y = 10.0 * rng.normal(size=(n, D)), rng.normal(size=(n, 4))
    weights, augmented = regions.fit_refinement(x, y), np.c_[x, np.ones(n)]
    penalty = regions.BOX_REGULARIZATION * np.diag([1.0] * D + [0.0])
    np.testing.assert_allclose(weights, np.linalg.solve(augmented.T @ augmented + penalty, augmented.T @ y), atol=1e-9)


def test_of_more_rows_than_are_kept_each_has_the_same_chance():
    rng, times = np.random.default_rng(3), np.zeros(40)
    for _ in range(2000):
        sample = regions.Sample(10)
        for first in range(0, 40, 8):
            sample.add(rng, *(factor * np.arange(first, first + 8) for factor in (1, 2)))
        one, two = sample.arrays
        assert len(set(one)) == 10 and (two == 2 * one).all()
        times[one] += 1
    assert np.abs(times / 2000 - 10 / 40).max() < 0.04  # four standard deviations
