"""The promises of learner_contract.py, kept by every learner of the package."""

import numpy as np
from helpers.learner_contract import LearnerContract

from icub_learning.arrays import vector
from icub_learning.dynamics import NonparametricEstimator, ParametricEstimator, SemiparametricEstimator
from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recognition.classifiers.dictionary_classifier import DictionaryClassifier
from icub_learning.recursive import RecursiveLeastSquares

WEIGHTS = np.random.default_rng(7).normal(size=(6, 2))


class TestRecursiveLeastSquares(LearnerContract):
    learner_class = RecursiveLeastSquares

    def make(self):
        return RecursiveLeastSquares(6, 2, regularization=0.1)

    def sample(self, rng):
        z = rng.normal(size=6)
        return (z,), z @ WEIGHTS + 0.01 * rng.normal(size=2)


class TestRecursiveLeastSquaresThatForgets(TestRecursiveLeastSquares):
    def make(self):
        return RecursiveLeastSquares(6, 2, regularization=0.1, forgetting=0.97)


class TestRecursiveLeastSquaresWithOneOutput(TestRecursiveLeastSquares):
    def make(self):
        return RecursiveLeastSquares(6, 1, regularization=0.1)

    def sample(self, rng):
        inputs, measured = super().sample(rng)
        return inputs, measured[:1]


class Pendulums:
    """A regressor of two uncoupled pendulums with friction: small, exact, and independent of any robot model."""

    n_joints, n_outputs, n_parameters, n_base = 2, 2, 6, 6
    joints = ("first", "second")
    output_names = joints
    parameter_names = ("I1", "mgl1", "b1", "I2", "mgl2", "b2")
    nominal_parameters = np.array([0.5, 2.0, 0.1, 0.2, 1.0, 0.3])
    base_projection = np.eye(6)

    def __call__(self, q, v, a):
        rows = np.zeros((2, 6))
        for joint in range(2):
            rows[joint, 3 * joint : 3 * joint + 3] = a[joint], np.sin(q[joint]), v[joint]
        return rows

    def state(self):
        return {}


class EstimatorContract(LearnerContract):
    regressor = Pendulums()

    def restore(self, state):
        return self.learner_class.from_state(state, self.regressor)

    def sample(self, rng):
        q, v, a = rng.normal(size=(3, 2))
        y = self.regressor(q, v, a) @ self.regressor.nominal_parameters + 0.3 * np.sin(q)[::-1]
        return (q, v, a), y + 0.01 * rng.normal(size=2)

    def answer(self, prediction):
        return np.concatenate([prediction.total, prediction.parametric, prediction.residual, prediction.variance])


class TestParametricEstimator(EstimatorContract):
    learner_class = ParametricEstimator

    def make(self):
        return ParametricEstimator(self.regressor)


class TestNonparametricEstimator(EstimatorContract):
    learner_class = NonparametricEstimator

    def make(self):
        return NonparametricEstimator(self.regressor, n_random_features=60)


class TestNonparametricEstimatorWithFixedSettings(TestNonparametricEstimator):
    def make(self):
        return NonparametricEstimator(self.regressor, n_random_features=60, length_scale=5.0, n_warm_up=20)


class TestSemiparametricEstimator(EstimatorContract):
    learner_class = SemiparametricEstimator

    def make(self):
        return SemiparametricEstimator(self.regressor, n_random_features=60)


class TestSemiparametricEstimatorThatForgets(TestSemiparametricEstimator):
    def make(self):
        return SemiparametricEstimator(self.regressor, n_random_features=60, forgetting=0.999)


class TestSemiparametricEstimatorWithFixedSettings(TestSemiparametricEstimator):
    def make(self):
        settings = {"length_scale": 5.0, "n_warm_up": 20, "forgetting": 0.999}
        return SemiparametricEstimator(self.regressor, n_random_features=60, **settings)


class Shown:
    """A classifier seen as a learner of 0/1 targets: an example is learned as the class whose target is 1."""

    def __init__(self, classifier):
        self.classifier = classifier

    def update(self, x, target):
        self.classifier.learn(x, str(int(vector("target", target, 3).argmax())))

    def predict(self, x):
        scores = dict(zip(self.classifier.classes, np.ravel(self.classifier.scores(x)), strict=True))
        return np.array([scores.get(str(place), 0.0) for place in range(3)])

    def state(self):
        return self.classifier.state()


class TestIncrementalClassifier(LearnerContract):
    learner_class = Shown
    classifier_class = IncrementalClassifier

    def make(self):
        return Shown(self.classifier_class(6, recoding=0.0))

    def restore(self, state):
        return Shown(self.classifier_class.from_state(state))

    def sample(self, rng):
        place = rng.integers(3)
        return (2.0 * np.eye(6)[place] + 0.1 * rng.normal(size=6),), np.eye(3)[place]

    def test_no_default_can_be_changed_from_outside(self):
        self.learner_class = self.classifier_class
        super().test_no_default_can_be_changed_from_outside()


class TestAdaptiveClassifier(TestIncrementalClassifier):
    classifier_class = AdaptiveClassifier

    def make(self):
        return Shown(AdaptiveClassifier(6, recoding=0.0, well_known=1_000_000))

    def taught(self):
        """Until no more examples are held out, and as many outcomes are remembered as ever will be."""
        learner = super().taught()
        learner.classifier.learn(*self.filling())
        return learner

    def filling(self):
        samples = self.samples(4000, seed=8)
        return np.array([inputs[0] for inputs, _ in samples]), [str(target.argmax()) for _, target in samples]


class TestDictionaryClassifier(TestIncrementalClassifier):
    classifier_class = DictionaryClassifier

    def make(self):
        return Shown(DictionaryClassifier(6, recoding=0.0, max_dictionary=40))


class TestNonparametricEstimatorOnNystromFeatures(TestNonparametricEstimator):
    def make(self):
        return NonparametricEstimator(
            self.regressor, nonparametric="nystrom", n_random_features=50, n_warm_up=40, length_scale=3.0
        )


class TestSemiparametricEstimatorOnNystromFeatures(TestSemiparametricEstimator):
    def make(self):
        return SemiparametricEstimator(self.regressor, nonparametric="nystrom", n_random_features=50, n_warm_up=40)


class TestNonparametricEstimatorByPolk(TestNonparametricEstimator):
    def make(self):
        return NonparametricEstimator(
            self.regressor, nonparametric="polk", n_warm_up=20, length_scale=2.0, max_dictionary=60
        )


class TestSemiparametricEstimatorByPolk(TestSemiparametricEstimator):
    def make(self):
        return SemiparametricEstimator(self.regressor, nonparametric="polk", n_warm_up=20, max_dictionary=30)
