"""scikit-learn's own checks on POLK."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from icub_learning.kernel_methods import POLKClassifier, POLKRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@parametrize_with_checks([POLKClassifier(), POLKClassifier(loss="hinge", max_dictionary=200), POLKRegressor()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
