"""scikit-learn's own checks on every kernel estimator, as regressor and as one-vs-all classifier."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from icub_learning import kernel_methods
from icub_learning.kernel_methods import OneVsAllClassifier
from icub_learning.kernel_methods.estimator import KernelRegressor

REGRESSORS = [
    kind
    for name in kernel_methods.__all__
    if isinstance(kind := getattr(kernel_methods, name), type) and issubclass(kind, KernelRegressor)
]
ESTIMATORS = [kind() for kind in REGRESSORS]
ESTIMATORS += [OneVsAllClassifier(), OneVsAllClassifier(kernel_methods.Landweber(max_iter=100))]

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_all_regressors_are_here():
    assert len(REGRESSORS) >= 6
