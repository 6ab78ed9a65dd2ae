"""Diagnostics of a data set: leverage scores, dimensions, signal to noise, the fastest method, Nyström centres."""

from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import DataError, ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import check_regularization, check_varying
from icub_learning.kernel_methods.kernels import Kernel, KernelFunction, Seed, sample_rows
from icub_learning.kernel_methods.spectral.krls import eigendecomposition, solve_ridge
from icub_learning.kernel_methods.subsampling.centers import ApproximateLeverage

METHODS = ("KRLS", "early stopping", "NystromKRLS", "NYTRO")
LEVELS = np.logspace(-12, 2, 57)  # grid of lambda / (largest eigenvalue of K / n) that `signal_to_noise` searches


@dataclass(frozen=True)
class EffectiveDimensions:
    """Effective and maximal dimension at lambda: Tr K (K + lambda n I)^-1 <= n max_i l_i <= max k(x, x) / lambda."""

    effective: float
    maximal: float
    regularization: float


@dataclass(frozen=True)
class SignalToNoise:
    """Estimates of SNR = ||f||^2_H / noise variance and of lambda* = 1 / (n SNR), which is best for KRLS."""

    ratio: float  # SNR, over all targets together
    squared_norm: float  # ||f||^2_H, summed over the targets
    noise_variance: float  # summed over the targets
    regularization: float  # lambda* = 1 / (n ratio) (thesis 4.3.2, whose 1 / SNR is a misprint)


def leverage_scores(
    X: ArrayLike, *, kernel: str | KernelFunction = "gaussian", length_scale: float = 1.0, degree: int = 3,
    regularization: float = 1e-6, n_pilots: int | None = None, random_state: Seed = None,
) -> Array:  # fmt: skip
    """Return leverage scores l_i = (K (K + lambda n I)^-1)_ii of X (n, d), lambda > 0; approximate with `n_pilots`."""
    samples = _check_samples(X)
    level = check_regularization(regularization)
    function = Kernel(kernel, length_scale, degree)
    n = len(samples)
    if n_pilots is None:
        gram = function.gram(samples)
        return np.asarray(np.einsum("ij,ji->i", gram, solve_ridge(gram.copy(), level * n, np.eye(n))))
    n_pilots = integer("n_pilots", n_pilots, 1, n, "the number of samples, ")
    pilots = samples[sample_rows(random_state, n, n_pilots)]
    return ApproximateLeverage(function, pilots, level, n)(samples)


def effective_dimensions(X: ArrayLike, *, regularization: float = 1e-6, **settings: Any) -> EffectiveDimensions:
    """Return the effective and the maximal dimension of X (n, d) at lambda > 0; settings as in `leverage_scores`."""
    scores = leverage_scores(X, regularization=regularization, **settings)
    return EffectiveDimensions(float(scores.sum()), float(len(scores) * scores.max()), float(regularization))


def signal_to_noise(
    X: ArrayLike, y: ArrayLike, *, kernel: str | KernelFunction = "gaussian", length_scale: float = 1.0, degree: int = 3
) -> SignalToNoise:
    """Estimate the signal-to-noise ratio of targets y (n,) or (n, T) on samples X (n, d).

    In the model y ~ N(0, s (K + lambda n I)), lambda maximizes the joint likelihood of all targets, s lambda n is the
    noise variance, and ||f||^2_H is that of KRLS at this lambda, a lower bound. It costs one eigendecomposition.
    """
    samples, targets = _check_samples(X), finite("y", y)
    if targets.ndim not in (1, 2) or len(targets) != len(samples) or not targets.size:
        raise ShapeError("y", targets.shape, f"({len(samples)},) or ({len(samples)}, T)")
    targets = targets.reshape(len(samples), -1)
    check_varying(targets.min(axis=0), targets.max(axis=0))
    n, n_targets = targets.shape
    values, vectors = eigendecomposition(Kernel(kernel, length_scale, degree).gram(samples))
    if not values[-1] > 0.0:
        raise DataError("the kernel is 0 for all inputs", name="X", value=0.0, bound="inputs that differ from 0")
    squares = ((vectors.T @ targets) ** 2).sum(axis=1)

    def negative_log_likelihood(ridge: float) -> float:
        return float(n_targets * (n * np.log((squares / (values + ridge)).sum()) + np.log(values + ridge).sum()))

    ridges = LEVELS * values[-1]
    best = int(np.argmin([negative_log_likelihood(ridge) for ridge in ridges]))
    low, high = np.log(ridges[max(best - 1, 0)]), np.log(ridges[min(best + 1, len(ridges) - 1)])
    found = minimize_scalar(lambda r: negative_log_likelihood(np.exp(r)), bounds=(low, high), method="bounded")
    ridge = float(np.exp(found.x))
    scale = float((squares / (values + ridge)).sum()) / (n * n_targets)
    noise = scale * ridge
    fitted = float((squares * values / (values + ridge) ** 2).sum()) / n_targets
    ratio = fitted / noise
    return SignalToNoise(ratio, fitted * n_targets, noise * n_targets, 1.0 / (n * ratio))


def fixed_design_risk(
    smoother: ArrayLike, mean: ArrayLike, noise_variance: float, projection: ArrayLike | None = None
) -> float:
    """Return the risk (sigma^2 / n) Tr(Q^2) + (1 / n) ||P (I - Q) mu||^2 of predictions Q y for y = mu + noise.

    Q (n, n) is the symmetric `smoother`, P (n, n) the `projection` onto the range of K, None for the identity.
    """
    q, mu = finite("smoother", smoother), finite("mean", mean)
    if mu.ndim != 1 or q.shape != (len(mu), len(mu)):
        raise ShapeError("smoother", q.shape, f"({len(mu)}, {len(mu)}), as the mean")
    variance = real("noise_variance", noise_variance, 0.0)
    bias = mu - q @ mu
    if projection is not None:
        bias = finite("projection", projection) @ bias
    return float(variance * np.einsum("ij,ij->", q, q) + bias @ bias) / len(mu)


def costs(n: int, dimension: float, ratio: float) -> dict[str, float]:
    """Return the leading term of each method's operation count for the accuracy of KRLS at lambda*, by SNR `ratio`.

    With lambda* = 1 / (n SNR), m = min(n, d log(n / lambda*)) centres and t = 1 / lambda* iterations (kernel <= 1):
    KRLS n^3, early stopping n^2 t, Nyström KRLS n m^2, NYTRO n m t (NYTRO paper 3.3); d is the maximal dimension at
    lambda*, at most n and 1 / lambda*. Raises ParameterError.
    """
    n = integer("n", n, 2)
    ratio, dimension = _positive("ratio", ratio), _positive("dimension", dimension)
    most = min(n, n * ratio)
    if dimension > most * (1 + 1e-9):
        raise ParameterError("dimension", dimension, f"at most min(n, 1 / lambda*) = {most:g}")
    iterations = max(1.0, n * ratio)
    m = min(float(n), max(1.0, dimension * np.log(max(n * n * ratio, np.e))))
    on_all = {"KRLS": float(n) ** 3, "early stopping": float(n) ** 2 * iterations}
    return {**on_all, "NystromKRLS": n * m**2, "NYTRO": n * m * iterations}


def fastest_method(n: int, dimension: float, ratio: float) -> str:
    """Return the cheapest of `METHODS` by `costs`; a tie goes to the method without subsampling."""
    return min(METHODS, key=costs(n, dimension, ratio).__getitem__)


def regime_map(n: int, dimensions: ArrayLike, ratios: ArrayLike) -> NDArray[Any]:
    """Return `fastest_method` by SNR (rows) and dimension (columns), "" if impossible (NYTRO paper, fig. 1)."""
    columns, rows = finite("dimensions", dimensions), finite("ratios", ratios)
    return np.array([[fastest_method(n, d, r) if d <= min(n, n * r) else "" for d in columns] for r in rows])


def centers_for_expected_risk(
    dimension: float, n: int, norm: float, regularization: float, failure: float = 0.25
) -> int:
    """Return a number m >= (32 d / delta + 2) log(||K|| n / (delta lambda)) of uniform centres (theorem 5, Bach 2013).

    With m centres, the expected fixed-design risk of Nyström KRLS is at most 1 + 4 delta times that of KRLS at lambda;
    d is the maximal dimension n max_i (K (K + lambda n I)^-1)_ii, ||K|| the largest eigenvalue. Raises ParameterError.
    """
    dimension, norm = _positive("dimension", dimension), _positive("norm", norm)
    level, delta = check_regularization(regularization), _probability(failure)
    return ceil((32 * dimension / delta + 2) * max(log(norm * integer("n", n, 1) / (delta * level)), 0.0))


def centers_for_optimal_rate(
    maximal_dimension: float, largest: float, regularization: float, failure: float = 0.25
) -> int:
    """Return the number of uniform centres m >= max(67, 5 N_inf(lambda)) log(12 kappa^2 / (lambda delta)) (theorem 1).

    With m centres and lambda = ||C|| n^(-1 / (2 v + gamma + 1)), the excess risk is optimal with probability 1 - delta;
    N_inf is the supremum over x of <K_x, (C + lambda)^-1 K_x>, kappa^2 the `largest` k(x, x). Raises ParameterError.
    """
    dimension = _positive("maximal_dimension", maximal_dimension)
    bound = 12 * _positive("largest", largest) / (check_regularization(regularization) * _probability(failure))
    return ceil(max(67.0, 5 * dimension) * max(log(bound), 0.0))


def leverage_centers_for_optimal_rate(
    effective_dimension: float, n: int, failure: float = 0.25, accuracy: float = 1.0
) -> int:
    """Return the number of centres m >= max(334, 78 T^2 N(lambda)) log(48 n / delta) (theorem 1, leverage scores).

    The bound holds for lambda >= (19 kappa^2 / n) log(12 n / delta); N(lambda) is the trace of C (C + lambda)^-1, and T
    >= 1 is the factor within which the leverage scores are accurate. Raises ParameterError.
    """
    dimension = _positive("effective_dimension", effective_dimension)
    factor = real("accuracy", accuracy, 1.0)
    return ceil(max(334.0, 78 * factor**2 * dimension) * log(48 * integer("n", n, 1) / _probability(failure)))


def _positive(name: str, value: float) -> float:
    return real(name, value, 0.0, low_open=True)


def _probability(failure: float) -> float:
    if not 0.0 < real("failure", failure, -np.inf, np.inf) < 1.0:
        raise ParameterError("failure", failure, "a probability in (0, 1)")
    return float(failure)


def _check_samples(X: ArrayLike) -> Array:
    samples = finite("X", X)
    if samples.ndim != 2 or not samples.size:
        raise ShapeError("X", samples.shape, "(n, d) with n, d >= 1")
    return samples
