"""How many Nyström centres theory asks for: the bounds of theorems 1 and 5 of the thesis."""

from math import ceil, log

from icub_learning.arrays import real
from icub_learning.errors import ParameterError


def centers_for_expected_risk(
    dimension: float, n: int, norm: float, regularization: float, failure: float = 0.25
) -> int:
    """Return the uniform centres m >= (32 d / delta + 2) log(||K|| n / (delta lambda)) of theorem 5 (Bach 2013).

    With so many, the expected fixed-design risk of Nyström KRLS is at most 1 + 4 delta times that of KRLS at lambda; d
    is the maximal dimension n max_i (K (K + lambda n I)^-1)_ii, ||K|| the largest eigenvalue. Raises ParameterError: an
    argument is outside its range.
    """
    dimension = real("dimension", dimension, 0.0, low_open=True)
    norm, level = real("norm", norm, 0.0, low_open=True), real("regularization", regularization, 0.0, low_open=True)
    delta = _probability(failure)
    return ceil((32 * dimension / delta + 2) * max(log(norm * n / (delta * level)), 0.0))


def centers_for_optimal_rate(
    maximal_dimension: float, largest: float, regularization: float, failure: float = 0.25
) -> int:
    """Return the number of uniform centres m >= max(67, 5 N_inf(lambda)) log(12 kappa^2 / (lambda delta)) (theorem 1).

    With so many, and lambda = ||C|| n^(-1 / (2 v + gamma + 1)), the excess risk is optimal with probability 1 - delta;
    N_inf(lambda) is the supremum over x of <K_x, (C + lambda)^-1 K_x>, kappa^2 the largest k(x, x). Raises
    ParameterError: an argument is outside its range.
    """
    dimension = real("maximal_dimension", maximal_dimension, 0.0, low_open=True)
    largest, level = (
        real("largest", largest, 0.0, low_open=True),
        real("regularization", regularization, 0.0, low_open=True),
    )
    return ceil(max(67.0, 5 * dimension) * max(log(12 * largest / (level * _probability(failure))), 0.0))


def leverage_centers_for_optimal_rate(
    effective_dimension: float, n: int, failure: float = 0.25, accuracy: float = 1.0
) -> int:
    """Return the number of centres m >= max(334, 78 T^2 N(lambda)) log(48 n / delta) (theorem 1, leverage scores).

    It holds for lambda of at least (19 kappa^2 / n) log(12 n / delta); N(lambda) is the trace of C (C + lambda)^-1, T
    >= 1 the factor up to which the leverage scores are right. Raises ParameterError: an argument is outside its range.
    """
    dimension = real("effective_dimension", effective_dimension, 0.0, low_open=True)
    factor = real("accuracy", accuracy, 1.0)
    return ceil(max(334.0, 78 * factor**2 * dimension) * log(48 * n / _probability(failure)))


def _probability(failure: float) -> float:
    delta = real("failure", failure, 0.0, 1.0, low_open=True)
    if delta == 1.0:
        raise ParameterError("failure", failure, "a probability in (0, 1)")
    return delta
