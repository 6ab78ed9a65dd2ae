"""Every learner of the package keeps the contract of icub_learning.testing."""

import numpy as np

from icub_learning.dynamics import NonparametricEstimator, ParametricEstimator, SemiparametricEstimator
from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recognition.classifiers.kept_views import MAX_VIEWS
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.testing import ClassifierAsLearner, LearnerContract

WEIGHTS = np.random.default_rng(7).normal(size=(6, 2))


class TestRecursiveLeastSquares(LearnerContract):
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
    nominal_parameters, base_projection = np.array([0.5, 2.0, 0.1, 0.2, 1.0, 0.3]), np.eye(6)

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
        return type(self.make()).from_state(state, self.regressor)

    def sample(self, rng):
        q, v, a = rng.normal(size=(3, 2))
        y = self.regressor(q, v, a) @ self.regressor.nominal_parameters + 0.3 * np.sin(q)[::-1]
        return (q, v, a), y + 0.01 * rng.normal(size=2)

    def answer(self, prediction):
        return np.concatenate([prediction.total, prediction.parametric, prediction.residual, prediction.variance])


class TestParametricEstimator(EstimatorContract):
    def make(self):
        return ParametricEstimator(self.regressor)


class TestParametricEstimatorThatForgets(EstimatorContract):
    def make(self):
        return ParametricEstimator(self.regressor, forgetting=0.99)


class TestNonparametricEstimator(EstimatorContract):
    def make(self):
        return NonparametricEstimator(self.regressor, n_random_features=60, forgetting=0.999)  # the next class: "auto"


class TestSemiparametricEstimator(EstimatorContract):
    def make(self):
        return SemiparametricEstimator(self.regressor, n_random_features=60)


class TestIncrementalClassifier(LearnerContract):
    classifier_class, n_until_full = IncrementalClassifier, MAX_VIEWS

    def make(self):
        return ClassifierAsLearner(self.classifier_class(6, recoding=0.0))

    def restore(self, state):
        return ClassifierAsLearner(self.classifier_class.from_state(state))

    def classes(self):
        return (self.classifier_class,)

    def sample(self, rng):
        place = rng.integers(3)
        return (2.0 * np.eye(6)[place] + 0.1 * rng.normal(size=6),), np.eye(3)[place]


class TestAdaptiveClassifier(TestIncrementalClassifier):
    classifier_class = AdaptiveClassifier
    n_until_learned = 100  # fewer samples, as it calibrates before each answer
