"""What a data set says about the methods that suit it: effective dimensions, signal-to-noise ratio, fastest method."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from icub_learning.arrays import finite, integer, real
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import check_varying
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.spectral.spectrum import eigendecomposition
from icub_learning.kernel_methods.subsampling.leverage import check_samples, leverage_scores

__all__ = [
    "EffectiveDimensions",
    "SignalToNoise",
    "costs",
    "effective_dimensions",
    "fastest_method",
    "fixed_design_risk",
    "leverage_scores",
    "regime_map",
    "signal_to_noise",
]

METHODS = ("KRLS", "early stopping", "NystromKRLS", "NYTRO")
LEVELS = np.logspace(-12, 2, 57)  # of lambda, over the largest eigenvalue of K / n, tried by `signal_to_noise`


@dataclass(frozen=True)
class EffectiveDimensions:
    """d_eff = Tr K (K + lambda n I)^-1 <= d_max = n max_i l_i <= max k(x, x) / lambda, at lambda."""

    effective: float
    maximal: float
    regularization: float


@dataclass(frozen=True)
class SignalToNoise:
    """Estimates: SNR = ||f||^2_H / noise variance and the lambda* = 1 / (n SNR) at which KRLS does best.

    Attributes:
        ratio: the mean over the targets.
        squared_norm: ||f||^2_H, summed over the targets; noise_variance: likewise.
        regularization: lambda* = 1 / (n ratio) (thesis 4.3.1, whose 1 / SNR is a misprint).
    """

    ratio: float
    squared_norm: float
    noise_variance: float
    regularization: float


def effective_dimensions(
    X: ArrayLike,
    *,
    kernel: Any = "gaussian",
    length_scale: float = 1.0,
    degree: int = 3,
    regularization: float = 1e-6,
    n_pilots: int | None = None,
    random_state: Any = None,
) -> EffectiveDimensions:
    """Effective and maximal dimension of samples X (n, d) at lambda, exact or from pilots; see `leverage_scores`.

    Raises:
        ParameterError, ShapeError, NotFiniteError: an argument is outside its range.
    """
    scores = leverage_scores(
        X,
        kernel=kernel,
        length_scale=length_scale,
        degree=degree,
        regularization=regularization,
        n_pilots=n_pilots,
        random_state=random_state,
    )
    return EffectiveDimensions(float(scores.sum()), float(len(scores) * scores.max()), float(regularization))


def signal_to_noise(
    X: ArrayLike, y: ArrayLike, *, kernel: Any = "gaussian", length_scale: float = 1.0, degree: int = 3
) -> SignalToNoise:
    """Estimate the signal-to-noise ratio of targets y (n,) or (n, T) on samples X (n, d).

    In the model y ~ N(0, s (K + lambda n I)) lambda is the most
    likely one, all targets together, and s lambda n the noise variance; ||f||^2_H is that of KRLS at this lambda, a
    lower bound: what lies below the noise does not show. One eigendecomposition.

    Raises:
        ParameterError, ShapeError, NotFiniteError, DataError: an argument is outside its range, or a target constant.
    """
    samples, targets = check_samples(X), finite("y", y)
    if targets.ndim not in (1, 2) or len(targets) != len(samples) or not targets.size:
        raise ShapeError("y", targets.shape, f"({len(samples)},) or ({len(samples)}, T)")
    targets = targets.reshape(len(samples), -1)
    check_varying(targets.min(axis=0), targets.max(axis=0))
    n, n_targets = targets.shape
    values, vectors = eigendecomposition(Kernel(kernel, length_scale, degree).gram(samples))
    squares = ((vectors.T @ targets) ** 2).sum(axis=1)

    def unlikelihood(ridge: float) -> float:
        return n * n_targets * np.log((squares / (values + ridge)).sum()) + n_targets * np.log(values + ridge).sum()

    ridges = LEVELS * values[-1]
    best = int(np.argmin([unlikelihood(ridge) for ridge in ridges]))
    low, high = np.log(ridges[max(best - 1, 0)]), np.log(ridges[min(best + 1, len(ridges) - 1)])
    ridge = float(np.exp(minimize_scalar(lambda r: unlikelihood(np.exp(r)), bounds=(low, high), method="bounded").x))
    scale = float((squares / (values + ridge)).sum()) / (n * n_targets)
    noise = scale * ridge
    fitted = float((squares * values / (values + ridge) ** 2).sum()) / n_targets
    ratio = fitted / noise
    return SignalToNoise(ratio, fitted * n_targets, noise * n_targets, 1.0 / (n * ratio))


def fixed_design_risk(
    smoother: ArrayLike, mean: ArrayLike, noise_variance: float, projection: ArrayLike | None = None
) -> float:
    """E R = (sigma^2 / n) Tr(Q^2) + (1 / n) ||P (I - Q) mu||^2 of predictions Q y of y = mu + noise at fixed samples.

    Args:
        smoother: Q (n, n), symmetric.
        mean: mu (n,); noise_variance: sigma^2 >= 0.
        projection: P (n, n), onto the range of K; None for the identity.

    Raises:
        ParameterError, ShapeError, NotFiniteError: an argument is outside its range.
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
    """Leading terms of the operations that each method needs for the accuracy of KRLS at lambda* = 1 / (n SNR).

    With m = min(n, d log(n / lambda*)) centres and t = 1 / lambda* = n SNR iterations (kernel <= 1): KRLS n^3, early
    stopping n^2 t, Nyström KRLS n m^2, NYTRO n m t (NYTRO paper 3.3).

    Args:
        n: number of samples.
        dimension: the maximal dimension d at lambda*, at most n.
        ratio: SNR.

    Raises:
        ParameterError: an argument is outside its range, or dimension above its bounds n and 1 / lambda* = n SNR.
    """
    n = integer("n", n, 2)
    ratio = real("ratio", ratio, 0.0, low_open=True)
    dimension = real("dimension", dimension, 0.0, low_open=True)
    most = min(n, n * ratio)
    if dimension > most * (1 + 1e-9):
        raise ParameterError("dimension", dimension, f"at most min(n, 1 / lambda*) = {most:g}")
    iterations = max(1.0, n * ratio)
    m = min(float(n), max(1.0, dimension * np.log(max(n * n * ratio, np.e))))
    return {
        "KRLS": float(n) ** 3,
        "early stopping": float(n) ** 2 * iterations,
        "NystromKRLS": n * m**2,
        "NYTRO": n * m * iterations,
    }


def fastest_method(n: int, dimension: float, ratio: float) -> str:
    """Which of `METHODS` is the cheapest by `costs`; of equals, the one without subsampling."""
    found = costs(n, dimension, ratio)
    return min(METHODS, key=lambda name: found[name])


def regime_map(n: int, dimensions: ArrayLike, ratios: ArrayLike) -> NDArray[Any]:
    """`fastest_method` by SNR (rows) and dimension (columns); "" where no problem has these (NYTRO paper, fig. 1)."""
    return np.array(
        [
            [fastest_method(n, d, ratio) if d <= min(n, n * ratio) else "" for d in finite("dimensions", dimensions)]
            for ratio in finite("ratios", ratios)
        ]
    )
