"""FALKON with the logistic loss beside FALKON with the square loss and scikit-learn's logistic regression."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from icub_learning.arrays import Array
from icub_learning.experiments.figures import seconds
from icub_learning.experiments.panels import Panel
from icub_learning.kernel_methods import FALKON, LogisticFALKON
from icub_learning.reporting.tables import number, table

LEVELS = tuple(10.0**power for power in range(-8, -1))
SCALE, INPUTS, TEST = 2.0, 6, 5000
METHODS = {"logistic": "FALKON, logistic", "square": "FALKON, square", "sklearn": "scikit-learn, Nystroem + logistic"}


def problem(n: int, seed: int) -> Any:
    """Return (x, y) to learn from, (x, y) to test on, and the probabilities of +1 of the tests."""
    random = np.random.default_rng([seed, n])
    x = random.normal(size=(n + TEST, INPUTS))
    chance = expit(3 * np.sin(1.5 * x[:, 0]) + 2 * x[:, 1] * x[:, 2] + x[:, 3])
    y = np.where(random.uniform(size=len(x)) < chance, 1.0, -1.0)
    return (x[:n], y[:n]), (x[n:], y[n:]), chance[n:]


def measure(seed: int, quick: bool) -> dict[str, Any]:
    """Return error, excess log loss and seconds of each of METHODS by n, lambda chosen by held-out log loss."""
    sizes = ((500, 50), (1000, 100)) if quick else ((1000, 100), (3000, 200), (10_000, 400), (30_000, 600))
    rows = []
    for n, m in sizes:
        (x, y), (x_test, y_test), chance = problem(n, seed)
        centers = x[np.random.default_rng(seed).permutation(n)[:m]]
        learned = 4 * n // 5
        row: dict[str, Any] = {"n": n, "m": m, "bayes": float(np.mean(np.minimum(chance, 1 - chance)))}
        least = float(-np.mean(chance * np.log(chance) + (1 - chance) * np.log(1 - chance)))
        for name in METHODS:
            models = [make(name, centers, level, learned, seed).fit(x[:learned], y[:learned]) for level in LEVELS]
            trials = [log_loss(y[learned:], probability(name, model, x[learned:])) for model in models]
            model = make(name, centers, LEVELS[int(np.argmin(trials))], n, seed)
            took = seconds(model.fit, x, y)
            guess = probability(name, model, x_test)
            row[name] = {
                "seconds": took, "excess error": float(np.mean((guess > 0.5) != (y_test > 0))) - row["bayes"],
                "excess log loss": float(-np.mean(chance * np.log(guess) + (1 - chance) * np.log(1 - guess))) - least
            }  # fmt: skip
        rows.append(row)
    return {"rows": rows}


def make(name: str, centers: Array, level: float, n: int, seed: int) -> Any:
    """Return an estimator of one of METHODS; scikit-learn draws its own centres, as many."""
    if name != "sklearn":
        kind = LogisticFALKON if name == "logistic" else FALKON
        return kind(centers=centers, regularization=level, length_scale=SCALE, random_state=seed, tol=1e-4)
    draw = Nystroem(gamma=1 / (2 * SCALE**2), n_components=len(centers), random_state=seed)
    return make_pipeline(draw, LogisticRegression(C=1 / (level * n), fit_intercept=False, max_iter=500))


def probability(name: str, model: Any, x: Array) -> Array:
    """Return probabilities of +1; the square loss's scores are (1 + f) / 2, clipped to [0.001, 0.999]."""
    if name == "sklearn":
        guess = model.predict_proba(x)[:, 1]
    else:
        scores = model.predict(x)
        guess = expit(scores) if name == "logistic" else np.clip((1 + scores) / 2, 0.001, 0.999)
    return np.asarray(np.clip(guess, 1e-12, 1 - 1e-12))


def text(found: dict[str, Any]) -> str:
    columns = (("excess error", 100.0), ("excess log loss", 1.0), ("seconds", 1.0))
    rows = [
        [str(row["n"]), str(row["m"]), *(number(scale * row[name][key]) for key, scale in columns for name in METHODS)]
        for row in found["rows"]
    ]
    head = ["n", "m", *["logistic", "square", "sklearn"] * 3]
    over = [("", 1), ("error - Bayes [%]", 3), ("log loss - least", 3), ("fit [s]", 3)]
    return "FALKON with the logistic loss\n" + table(head, rows, over)


def panels(found: dict[str, Any]) -> list[Panel]:
    n, panels = [row["n"] for row in found["rows"]], []
    for key, label in (("excess log loss", "log loss over the least"), ("seconds", "fit [s]")):
        lines = {title: (n, [row[name][key] for row in found["rows"]]) for name, title in METHODS.items()}
        panels.append(Panel("logistic loss", "samples n", label, lines))
    return panels
