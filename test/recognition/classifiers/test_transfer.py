"""Transfer between classes beside machines that are trained without each class, and what it does for few views."""

import numpy as np
import pytest

from icub_learning.errors import ParameterError
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.recognition.classifiers.kernel_classifier import KernelClassifier
from icub_learning.recognition.classifiers.transfer import ridge_coefficients
from icub_learning.recognition.classifiers.workspace import Workspace

D, LAMBDA = 6, 0.3


def by_definition(gram, targets, n_classes, transfer):
    """Minimize sum (y - f)^2 + lambda ||f - g||^2 for each class, with g from a machine that never saw its views."""
    n = len(gram)
    found = np.zeros((n, n_classes))
    for index in range(n_classes):
        own = targets == index
        known = np.flatnonzero(~own)
        others = np.zeros((n, n_classes))
        others[known] = np.linalg.solve(
            gram[np.ix_(known, known)] + LAMBDA * np.eye(len(known)), np.eye(n_classes)[targets[known]]
        )
        prior = transfer * others @ (gram[own] @ others).mean(axis=0)
        residual = own.astype(float) - gram @ prior
        found[:, index] = prior + np.linalg.solve(gram + LAMBDA * np.eye(n), residual)
    return found


@pytest.mark.parametrize("transfer", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("counts", [[4, 1, 7], [5, 5], [1, 1, 1]])
def test_coefficients_are_those_of_the_definition(transfer, counts):
    rng = np.random.default_rng(0)
    targets = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    x = rng.normal(size=(len(targets), D)) + targets[:, None]
    gram = np.exp(-((x[:, None] - x) ** 2).sum(axis=2) / 8.0)
    found = ridge_coefficients(gram, targets, len(counts), LAMBDA, transfer, Workspace(0))
    np.testing.assert_allclose(found, by_definition(gram, targets, len(counts), transfer), atol=1e-10)


def test_a_single_class_has_none_to_learn_from():
    gram = np.eye(3) + 0.5
    zeros = np.zeros(3, dtype=np.intp)
    drawn, plain = (ridge_coefficients(gram, zeros, 1, LAMBDA, transfer, Workspace(0)) for transfer in (1.0, 0.0))
    np.testing.assert_allclose(drawn, plain, atol=1e-12)


def test_transfer_finds_more_views_of_a_late_class_at_little_cost_and_fades_with_its_views():
    rng = np.random.default_rng(1)
    kinds = rng.normal(size=(3, 20))  # classes are alike in threes
    centres = np.repeat(kinds, 3, axis=0) + 0.6 * rng.normal(size=(9, 20))
    views = {k: centres[k] + 0.9 * rng.normal(size=(200, 20)) for k in range(9)}
    plain, drawn = KernelClassifier(20, transfer=0.0), KernelClassifier(20, transfer=1.0)
    change = {}
    for n in (1, 40):
        right = []
        for classifier in (plain, drawn):
            for k in range(8):
                classifier.learn(views[k][:40], str(k))
            classifier.learn(views[8][:n], "8")
            right.append([np.mean([one == str(k) for one in classifier.predict(views[k][60:])]) for k in range(9)])
            for label in list(classifier.classes):
                classifier.forget(label)
        gain = np.subtract(right[1], right[0])
        change[n] = gain[8]
        assert gain[:8].mean() > -0.02
    assert change[1] > 0.04
    assert abs(change[40]) < 0.02


def test_it_is_a_setting_and_part_of_the_state():
    classifier = make_classifier(Settings(transfer=0.25), D)
    classifier.learn(np.eye(D)[:2], ["a", "b"])
    restored = KernelClassifier.from_state(classifier.state())
    assert restored.transfer == classifier.transfer == 0.25
    with pytest.raises(ParameterError, match="transfer"):
        KernelClassifier(D, transfer=1.5)
