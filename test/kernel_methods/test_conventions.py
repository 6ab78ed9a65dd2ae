"""scikit-learn's own checks on every kernel estimator, as regressor and as one-vs-all classifier."""

import numpy as np
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
# The logistic loss takes targets -1 and +1 alone, which scikit-learn's checks of regressors do not give it.
OF_SIGNS = {kernel_methods.LogisticFALKON}
ESTIMATORS = [kind() for kind in REGRESSORS if kind not in OF_SIGNS]
ESTIMATORS += [OneVsAllClassifier(), OneVsAllClassifier(kernel_methods.Landweber(max_iter=100))]
# The checks set the seed of the outer estimator alone; another choice of centres in each fit would not be idempotent.
ESTIMATORS += [OneVsAllClassifier(kind(random_state=0)) for kind in OF_SIGNS]

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


COMMON = {"kernel": "gaussian", "length_scale": 1.0, "degree": 3, "regularization": 1e-6, "random_state": None}


@pytest.mark.parametrize("kind", REGRESSORS)
def test_settings_have_the_common_names_and_defaults_and_are_keywords(kind):
    settings = kind().get_params()
    assert settings | COMMON == settings
    if "n_centers" in settings:
        assert (settings["n_centers"], settings["centers"], settings["sampling"]) == (100, None, "uniform")
    assert settings.get("n_features", 100) == 100
    assert settings.get("step_size", "auto") == "auto"
    with pytest.raises(TypeError, match="positional"):
        kind("linear")


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("targets", [1, 3])
def test_what_a_fit_leaves_has_the_common_names_and_shapes(kind, targets):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 4))
    y = np.sin(x @ rng.normal(size=(4, targets)))
    y = np.sign(y) if kind in OF_SIGNS else y
    fitted = kind(random_state=0).fit(x, y[:, 0] if targets == 1 else y)
    assert len(fitted.dual_coef_) in (150, 100)
    assert fitted.dual_coef_.shape[1:] == ((3,) if targets == 3 else ())
    assert fitted.predict_path(x[:6]).shape == (len(fitted.path_levels_), 6, targets)
    np.testing.assert_allclose(
        fitted.predict_path(x[:6])[-1].reshape(fitted.predict(x[:6]).shape), fitted.predict(x[:6]), atol=1e-9
    )
    if hasattr(fitted, "centers_"):
        assert fitted.centers_.shape == (len(fitted.dual_coef_), 4)
    if "max_iter" in fitted.get_params():
        assert 1 <= fitted.n_iter_ <= fitted.max_iter


@pytest.mark.parametrize("kind", REGRESSORS)
def test_every_regressor_becomes_a_classifier(kind):
    rng = np.random.default_rng(0)
    labels = np.repeat(["cup", "duck", "pear"], 60)
    x = rng.normal(size=(180, 2)) + 5.0 * np.repeat([[0, 0], [0, 1], [1, 0]], 60, axis=0)
    fitted = OneVsAllClassifier(kind(random_state=0)).fit(x, labels)
    assert fitted.score(x, labels) > 0.95
    assert fitted.decision_function(x).shape == (180, 3)
    assert fitted.predict_path(x).shape == (len(fitted.path_levels_), 180)


def test_all_regressors_are_here():
    assert len(REGRESSORS) >= 14
