"""scikit-learn's own checks on every kernel estimator, as regressor and as one-vs-all classifier."""

import pkgutil
from contextlib import suppress
from dataclasses import FrozenInstanceError, is_dataclass
from functools import partial
from importlib import import_module
from inspect import Parameter, signature

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from icub_learning import detection, kernel_methods, recognition
from icub_learning.errors import DataError, IcubLearningError
from icub_learning.kernel_methods import OneVsAllClassifier
from icub_learning.kernel_methods.estimator import KernelRegressor

KINDS = [kind for name in kernel_methods.__all__ if isinstance(kind := getattr(kernel_methods, name), type)]
REGRESSORS = [kind for kind in KINDS if issubclass(kind, KernelRegressor)]
# The logistic loss takes targets -1 and +1 alone, which scikit-learn's checks of regressors do not give it.
OF_SIGNS = {kernel_methods.LogisticFALKON}
ESTIMATORS = [*(kind() for kind in REGRESSORS if kind not in OF_SIGNS), OneVsAllClassifier()]
# The checks set the seed of the outer estimator alone; another choice of centres in each fit would not be idempotent.
ESTIMATORS += [OneVsAllClassifier(kind(random_state=0)) for kind in OF_SIGNS]
ESTIMATORS += [kernel_methods.POLKClassifier(), kernel_methods.POLKRegressor(), kernel_methods.TensorKernelRegressor()]
N = 60  # samples
# Refused settings: the error names the last one of each.
FAR = {"n_centers": N + 1}, {"n_centers": 0}, {"sampling": "best"}, {"regularization": 0.0}, {"regularization": -1e-3}
ITERATIONS = {"max_iter": 0}, {"tol": -1.0}, {"tol": np.nan}
STEPS = [{"step_size": value} for value in (0.0, 1e9, "fast", np.nan)]
REFUSED = {
    "KRLS SpectralCutoff": [
        {"regularization": 0.0}, {"regularization": -1.0}, {"regularization": np.inf}, {"length_scale": -1.0},
        {"kernel": "cosine"}, {"path": [1.0, 1.0]}, {"path": [0.0, 1.0]}],
    "Landweber NuMethod AcceleratedGradient ConjugateGradientKRLS": [
        *ITERATIONS, {"path": [1.5]}, {"max_iter": 5, "path": [6]}, {"path": []}],
    "Landweber NuMethod AcceleratedGradient": STEPS,
    "NystromKRLS IncrementalNystromKRLS": [*FAR, {"centers": np.zeros((3, 9))}, {"centers": np.full((3, 4), np.inf)}],
    "FALKON PreconditionedKRLS": [*ITERATIONS, FAR[0], FAR[3]], "LogisticFALKON": [*FAR[3:], *ITERATIONS],
    "FALKON": [{"storage": "disk"}, {"n_preconditioner": N + 1}],
    "FALKON RandomFeaturesKRLS": [{"random_state": value} for value in (-1, "x", np.random.default_rng(0))],
    "NYTRO": [
        *FAR, *ITERATIONS, *STEPS, {"stopping": "simple"}, {"stopping": True, "threshold": 1.1}, {"method": "newton"},
        {"method": "nu", "nu": 0.0}, {"method": "nu", "step_size": 100.0}, {"path": [501]},
        {"stopping": True, "validation_fraction": 1.0}],
    "RandomFeaturesKRLS IncrementalRandomFeaturesKRLS": [
        {"kernel": "linear"}, {"features": "orthogonal"}, {"n_features": 0}, FAR[3], {"length_scale": 0.0}],
    "RandomFeaturesKRLS": [{"sampling": "best"}, {"sampling": "leverage", "features": "fastfood"}],
    "StochasticKernelMachine": [
        *STEPS, {"loss": "perceptron"}, {"kernel": "linear", "step_size": 1.9}, {"decay": 1.01}, {"max_iter": 0},
        {"decay": (0.1, 0.2, 0.3)}, {"step_size": (0.5, 2.0)}, {"batch_size": N + 1}, {"order": "sorted"},
        {"epsilon": -1.0}, {"loss": "hinge"}],
    "TensorKernelRegressor": [
        *({"order": order} for order in (3, 0, 18, 4.0)), *ITERATIONS[:2], {"kernel": "gaussian"},
        {"kernel": "polynomial", "degree": 0}, {"gamma": 0.0}, {"gamma": -1.0}, {"loss": "zero-one"}, {"loss": 3},
        {"n_subsample": 0}, {"n_subsample": N + 1}],
    "POLKClassifier": [
        *STEPS[::3], {"regularization": 0.1, "step_size": 10.0}, {"regularization": -1.0}, {"parsimony": -0.1},
        {"loss": "absolute"}, {"schedule": "linear"}, {"batch_size": 0}, {"max_dictionary": 0}, {"max_dictionary": -3},
        {"averaging": 0}, {"averaging": 2.5}, {"classes": [0, 1, 1]}, {"classes": [1]}, {"length_scale": 0.0},
        {"schedule": "coin", "loss": "squared_hinge"}, {"schedule": "coin", "kernel": "polynomial"}],
    "POLKRegressor": [{"schedule": "coin", "loss": "square"}, {"step_size": 2.1}, {"kernel": "linear", "step_size": 3}],
}  # fmt: skip
CASES = [(kind, one) for kinds, some in REFUSED.items() for kind in kinds.split() for one in some]

IGNORED = [f"ignore::sklearn.exceptions.{name}" for name in ("ConvergenceWarning", "SkipTestWarning")]
pytestmark = pytest.mark.filterwarnings(*IGNORED)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_bad_settings_are_named(kind, settings):
    x, kind, (*_, name) = np.random.default_rng(0).normal(size=(N, 4)), getattr(kernel_methods, kind), settings
    for learn in {kind.fit, getattr(kind, "partial_fit", kind.fit)}:
        model = kind(**settings)
        with pytest.raises(IcubLearningError, match=name):
            learn(model, x, np.arange(N) % 2)
        assert not hasattr(model, "n_samples_seen_") and not hasattr(model, "dual_coef_")


@pytest.mark.parametrize("kind", REGRESSORS)
def test_inputs_that_are_all_0_are_fitted_or_refused(kind):
    if "kernel" in signature(kind).parameters:
        with suppress(IcubLearningError):
            kind(kernel="linear").fit(np.zeros((N, 4)), np.arange(N) % 2 * 2 - 1)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_settings_and_fits_that_are_refused_change_no_predictions(kind):
    x, y = np.random.default_rng(0).normal(size=(N, 4)), np.arange(N) % 2 * 2.0 - 1.0
    before = (model := kind(random_state=0).fit(x, y)).predict(x)
    for rows, targets in ((x[:, :2], ["a"] * N), (x[:, :2], [None, *y[1:]]), (x, [*y[1:], None]), (csr_array(x), y)):
        with pytest.raises(DataError):
            model.set_params(kernel="matern", length_scale=5.0).fit(rows, targets)
        np.testing.assert_array_equal(model.predict(x), before)


COMMON = {"kernel": "gaussian", "length_scale": 1.0, "degree": 3, "regularization": 1e-6, "random_state": None}
PATH, STEP, CENTERS = {"path": None}, {"step_size": "auto"}, {"n_centers": 100, "centers": None, "sampling": "uniform"}
FEATURES, DESCENT = {"n_features": 100, "features": "fourier", **PATH}, {"max_iter": 100, "tol": 1e-8, **PATH}
ONLINE = {"step_size": 1.0, "parsimony": 0.01, "schedule": "constant", "batch_size": 1, "max_dictionary": None}
ONLINE |= {name: value for name, value in COMMON.items() if name != "random_state"}
OWN = {
    "KRLS": PATH, "SpectralCutoff": PATH, "NystromKRLS": CENTERS | PATH, "IncrementalNystromKRLS": CENTERS | PATH,
    "Landweber": DESCENT | STEP | {"max_iter": 500}, "NuMethod": DESCENT | STEP | {"nu": 1.0},
    "AcceleratedGradient": DESCENT | STEP | {"method": "nesterov", "momentum": 0.9},
    "ConjugateGradientKRLS": DESCENT | {"max_iter": 50}, "LogisticFALKON": CENTERS | {"max_iter": 50, "tol": 1e-6},
    "FALKON": CENTERS | {"max_iter": 100, "tol": 1e-6, "n_preconditioner": None, "storage": "auto"},
    "NYTRO": CENTERS | DESCENT | STEP | {"max_iter": 500, "method": "gradient", "nu": 1.0, "shuffle": True,
                                         "stopping": False, "threshold": 0.001, "validation_fraction": 0.2},
    "PreconditionedKRLS": CENTERS | {"max_iter": 200, "tol": 1e-8}, "IncrementalRandomFeaturesKRLS": FEATURES,
    "RandomFeaturesKRLS": FEATURES | {"sampling": "uniform"},
    "StochasticKernelMachine": {"loss": "square", "epsilon": 0.1, "max_iter": 20, "step_size": "auto", "decay": 0.0,
                                "batch_size": 1, "order": "reshuffled", "average": False, "tol": 0.0},
    "TensorKernelRegressor": {"order": 4, "kernel": "linear", "degree": 1, "gamma": 1.0, "loss": "square", "tol": 1e-8,
                              "n_subsample": None, "max_iter": 1000, "random_state": None},
    "POLKClassifier": ONLINE | {"averaging": None, "loss": "logistic", "classes": None},
    "POLKRegressor": ONLINE | {"averaging": 1, "loss": "square"},
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_settings_have_the_common_names_and_documented_defaults_and_are_keywords(name):
    kind = getattr(kernel_methods, name)
    assert kind().get_params() == (COMMON if kind in REGRESSORS else {}) | OWN[name]
    with pytest.raises(TypeError, match="positional"):
        kind("linear")


def test_results_and_settings_cannot_be_changed_by_accident():
    changing = {"KernelSettings", "Lesson", "Counts", "DetectionLesson", "Frame", "Sample", "Shown"}  # what goes on
    for package in (kernel_methods, recognition, detection):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            kinds = [kind for kind in vars(import_module(found.name)).values() if isinstance(kind, type)]
            for kind in filter(is_dataclass, kinds):
                if not issubclass(kind, BaseEstimator) and kind.__name__ not in changing:
                    with pytest.raises(FrozenInstanceError):
                        object.__new__(kind).value = 0


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("targets", [1, 3])
def test_what_a_fit_leaves_has_the_common_names_and_shapes(kind, targets):
    x = (rng := np.random.default_rng(0)).normal(size=(150, 4))
    y = np.sin(x @ rng.normal(size=(4, targets)))
    y = np.sign(y) if kind in OF_SIGNS else y
    for bad, said in ((np.zeros(150), "constant at 0"), (np.r_[1.0, np.full(149, -1e101)], "y holds 1e.101")):
        with pytest.raises(DataError, match=said):
            kind().fit(x, bad)
    assert {one.kind for one in signature(kind).parameters.values()} == {Parameter.KEYWORD_ONLY}
    fitted = kind(random_state=0).fit(x, y[:, 0] if targets == 1 else y)
    assert len(fitted.dual_coef_) in (150, 100) and fitted.dual_coef_.shape[1:] == ((3,) if targets == 3 else ())
    path, predicted = fitted.predict_path(x[:6]), fitted.predict(x[:6])
    assert path.shape == (len(fitted.path_levels_), 6, targets)
    np.testing.assert_allclose(path[-1].reshape(predicted.shape), predicted, atol=1e-9)
    if hasattr(fitted, "centers_"):
        assert fitted.centers_.shape == (len(fitted.dual_coef_), 4)
    if "max_iter" in fitted.get_params():
        assert 1 <= fitted.n_iter_ <= fitted.max_iter


@pytest.mark.parametrize("kind", ["KRLS", "SpectralCutoff", "NystromKRLS", "RandomFeaturesKRLS"])
def test_a_path_in_lambda_equals_separate_fits(kind, data):
    (x, y), levels = data, [1e-5, 1e-3, 1e-2]
    make = partial(getattr(kernel_methods, kind), random_state=3)
    path = make(path=levels).fit(x, y)
    np.testing.assert_array_equal(path.path_levels_, levels)
    for level, predicted in zip(levels, path.predict_path(x), strict=True):
        np.testing.assert_allclose(predicted, make(regularization=level).fit(x, y).predict(x), atol=1e-8)
