"""FALKON and its rivals on one set of samples: times and errors with chosen lambda, and in the setting of theory."""

import warnings
from collections.abc import Mapping
from math import ceil, log, sqrt
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from icub_learning.evaluation.metrics import group_rmse
from icub_learning.experiments.measuring import seconds
from icub_learning.kernel_methods import FALKON, KRLS, NystromKRLS, PreconditionedKRLS, RandomFeaturesKRLS

SIGMA, NOISE, INPUTS, TEST = 3.0, 0.3, 10, 5000
LAMBDAS = tuple(10.0**power for power in range(-8, 0))
MOST_KRLS, MOST_PRECONDITIONED = 4000, 10_000  # samples
MOST_CHOOSING, MOST_CHOOSING_KRLS = 4000, 2000  # samples that lambda is chosen on, the last fifth held out
METHODS = {
    "falkon": "FALKON",
    "nystrom": "direct Nyström",
    "sklearn": "scikit-learn Nystroem + Ridge",
    "features": "random features",
    "preconditioned": "preconditioned KRLS",
    "krls": "KRLS",
}


def sample(n: int, seed: int) -> Any:
    """Return (x, y) to learn from, (n, 10) and (n,), and (x, f) to judge, with f free of noise."""
    random = np.random.default_rng([seed, n])
    x = random.normal(size=(n + TEST, INPUTS))
    clean = np.sin(2 * x[:, 0]) + np.cos(x[:, 1] * x[:, 2]) + 0.5 * np.tanh(x[:, 3:].sum(axis=1))
    y = clean[:n] + NOISE * random.normal(size=n)
    return (x[:n], y - y.mean()), (x[n:], clean[n:] - y.mean())


def choose_levels(train: Any, m: int, seed: int) -> dict[str, float]:
    """Return lambda with the least held-out error for centres, random features and KRLS, from training samples."""
    models: dict[str, Any] = {
        "nystrom": NystromKRLS(n_centers=m, path=LAMBDAS, length_scale=SIGMA, random_state=seed),
        "features": RandomFeaturesKRLS(n_features=m, path=LAMBDAS, length_scale=SIGMA, random_state=seed),
        "krls": KRLS(path=LAMBDAS, length_scale=SIGMA),
    }
    chosen = {}
    for name, model in models.items():
        x, y = (part[: MOST_CHOOSING_KRLS if name == "krls" else MOST_CHOOSING] for part in train)
        learned = 4 * len(x) // 5
        predicted = model.fit(x[:learned], y[:learned]).predict_path(x[learned:])[..., 0]
        chosen[name] = LAMBDAS[int(((predicted - y[learned:]) ** 2).mean(axis=1).argmin())]
    return chosen


def measure(n: int, m: int, seed: int) -> dict[str, Any]:
    """Learn n samples with all methods, each with its own lambda; the three on centres share theirs, and the m centres.

    Returns:
        "n", "m"; NAME_s [s] and NAME_error (RMSE) for each of METHODS that fits; "lambda" by method;
        "falkon_iterations"; "path", FALKON's error by iterations over direct Nyström's; "iterations_to_1_percent".
    """
    train, test = sample(n, seed)
    levels = choose_levels(train, m, seed)
    level = levels["nystrom"]
    # scikit-learn draws its centres itself: they are given to the others, so that all solve the same problem.
    draw = Nystroem(gamma=1 / (2 * SIGMA**2), n_components=m, random_state=seed)
    reference = make_pipeline(draw, Ridge(alpha=level * n, fit_intercept=False))
    row: dict[str, Any] = {"n": n, "m": m, "lambda": levels, "sklearn_s": seconds(reference.fit, *train)}
    models = _make(n, m, draw.components_, level, levels["features"], levels["krls"], seed)
    row.update(_judge(models, train, test), sklearn_error=group_rmse(reference.predict(test[0]) - test[1]))
    row["falkon_iterations"] = models["falkon"].n_iter_
    row["path"] = [
        group_rmse(one[:, 0] - test[1]) / row["nystrom_error"] for one in models["falkon"].predict_path(test[0])
    ]
    near = np.abs(np.array(row["path"]) - 1) <= 0.01
    row["iterations_to_1_percent"] = int(near.argmax()) + 1 if near.any() else None
    return row


def measure_theory(n: int, seed: int) -> dict[str, Any]:
    """Learn as the theorem on FALKON has it: lambda = n^(-1/2), m = n^(1/2) centres, t = log n iterations.

    The rivals have the same lambda, centres and number of features. Returns "n", "m", "lambda", "t", and as `measure`.
    """
    train, test = sample(n, seed)
    m, level, t = ceil(sqrt(n)), 1 / sqrt(n), ceil(log(n))
    centers = train[0][np.random.default_rng([seed, n, m]).permutation(n)[:m]]
    models = _make(n, m, centers, level, level, level, seed)
    models["falkon"].set_params(max_iter=t, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # t iterations are what theory asks for
        return {"n": n, "m": m, "lambda": level, "t": t, **_judge(models, train, test)}


def _make(
    n: int, m: int, centers: Any, level: float, features_level: float, krls_level: float, seed: int
) -> dict[str, Any]:
    common: dict[str, Any] = {"length_scale": SIGMA}
    models: dict[str, Any] = {
        "falkon": FALKON(centers=centers, regularization=level, tol=1e-3, random_state=seed, **common),
        "nystrom": NystromKRLS(centers=centers, regularization=level, **common),
        "features": RandomFeaturesKRLS(n_features=m, regularization=features_level, random_state=seed, **common),
    }
    if n <= MOST_PRECONDITIONED:
        models["preconditioned"] = PreconditionedKRLS(centers=centers, regularization=krls_level, tol=1e-3, **common)
    if n <= MOST_KRLS:
        models["krls"] = KRLS(regularization=krls_level, **common)
    return models


def _judge(models: Mapping[str, Any], train: Any, test: Any) -> dict[str, float]:
    """Return seconds (the faster of two fits where they are short) and errors of all models."""
    found = {}
    for name, model in models.items():
        took = seconds(model.fit, *train)
        found[f"{name}_s"] = min(took, seconds(model.fit, *train)) if took < 10 else took
        found[f"{name}_error"] = group_rmse(model.predict(test[0]) - test[1])
    return found
