"""Ways to do one full step of recursive least squares: predict, learn one sample, compute the new weights.

Each contestant is made with (d, T), starts with regularization 1 and zero weights, and offers `step(z, y)` and
`weights()`; one that cannot do every size has a `largest` d * T. `CONTESTANTS` holds those whose library is installed,
`MISSING` the reason for each of the others.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsymv, dsyr, dtrsv

from icub_learning.recursive import RecursiveLeastSquares, _cholesky

CONTESTANTS: dict[str, Callable[[int, int], Any]] = {}
MISSING: dict[str, str] = {}


def contestant(name: str) -> Callable[[type], type]:
    """Return a decorator that registers a class under its permanent name."""

    def enter(kind: type) -> type:
        CONTESTANTS[name] = kind
        return kind

    return enter


class Ours:
    """The package's own core, on one of its kernels."""

    kernel = ""

    def __init__(self, d: int, n_outputs: int) -> None:
        self.learner = RecursiveLeastSquares(d, n_outputs)

    def step(self, z: np.ndarray, y: np.ndarray) -> None:
        self.learner.predict(z)
        self.learner.update(z, y)

    def weights(self) -> np.ndarray:
        return self.learner.weights


for _name in _cholesky.available():
    contestant(f"ours/{_name}")(type("Ours", (Ours,), {"kernel": _name}))


@contestant("Sherman-Morrison")
class ShermanMorrison:
    """P = A^-1 updated by dsymv and dsyr: fast, but P loses its definiteness in finite precision."""

    def __init__(self, d: int, n_outputs: int) -> None:
        self.inverse = np.asfortranarray(np.eye(d))
        self.learned = np.zeros((d, n_outputs))

    def step(self, z: np.ndarray, y: np.ndarray) -> None:
        error = y - z @ self.learned
        gain = dsymv(1.0, self.inverse, z)
        scale = 1.0 / (1.0 + z @ gain)
        self.inverse = dsyr(-scale, gain, a=self.inverse, overwrite_a=1)
        self.learned += np.outer(gain, scale * error)

    def weights(self) -> np.ndarray:
        return self.learned


@contestant("refactorization")
class Refactorization:
    """Keep A itself; compute a new Cholesky factor and solve for all outputs at each sample."""

    def __init__(self, d: int, n_outputs: int) -> None:
        self.covariance = np.asfortranarray(np.eye(d))
        self.moment = np.zeros((d, n_outputs))
        self.learned = np.zeros((d, n_outputs))

    def step(self, z: np.ndarray, y: np.ndarray) -> None:
        z @ self.learned
        self.covariance = dsyr(1.0, z, a=self.covariance, overwrite_a=1)
        self.moment += np.outer(z, y)
        self.learned = cho_solve(cho_factor(self.covariance, check_finite=False), self.moment, check_finite=False)

    def weights(self) -> np.ndarray:
        return self.learned


try:
    import hyhound

    @contestant("hyhound")
    class Hyhound:
        """hyhound's blocked Householder update of L, two triangular solves for the gain."""

        def __init__(self, d: int, n_outputs: int) -> None:
            self.factor = np.asfortranarray(np.eye(d))
            self.learned = np.zeros((d, n_outputs))
            self.row = np.zeros((d, 1), order="F")

        def step(self, z: np.ndarray, y: np.ndarray) -> None:
            error = y - z @ self.learned
            self.row[:, 0] = z
            hyhound.update_cholesky_inplace(self.factor, self.row)
            gain = dtrsv(self.factor, dtrsv(self.factor, z, lower=1), lower=1, trans=1)
            self.learned += np.outer(gain, error)

        def weights(self) -> np.ndarray:
            return self.learned

except ImportError as error:
    MISSING["hyhound"] = str(error)

try:
    import eigenpy

    @contestant("eigenpy")
    class Eigenpy:
        """Eigen's LLT.rankUpdate and its solve for the gain."""

        def __init__(self, d: int, n_outputs: int) -> None:
            self.factor = eigenpy.LLT(np.eye(d))
            self.learned = np.zeros((d, n_outputs))

        def step(self, z: np.ndarray, y: np.ndarray) -> None:
            error = y - z @ self.learned
            self.factor.rankUpdate(z, 1.0)
            self.learned += np.outer(self.factor.solve(z), error)

        def weights(self) -> np.ndarray:
            return self.learned

except ImportError as error:
    MISSING["eigenpy"] = str(error)

try:
    import numba

    @numba.njit(fastmath={"contract"})
    def _rotate(factor: np.ndarray, z: np.ndarray) -> None:
        for i in range(len(z)):
            diagonal = np.sqrt(factor[i, i] ** 2 + z[i] ** 2)
            cosine, sine = factor[i, i] / diagonal, z[i] / diagonal
            factor[i, i] = diagonal
            for j in range(i + 1, len(z)):
                above, rest = factor[i, j], z[j]
                factor[i, j] = cosine * above + sine * rest
                z[j] = cosine * rest - sine * above

    @contestant("numba")
    class Numba:
        """Row-wise Givens rotations of R compiled by numba, two triangular solves for the gain."""

        def __init__(self, d: int, n_outputs: int) -> None:
            self.factor = np.eye(d)
            self.learned = np.zeros((d, n_outputs))

        def step(self, z: np.ndarray, y: np.ndarray) -> None:
            error = y - z @ self.learned
            _rotate(self.factor, z.copy())
            lower = self.factor.T  # column-major, as BLAS wants it
            gain = dtrsv(lower, dtrsv(lower, z, lower=1), lower=1, trans=1)
            self.learned += np.outer(gain, error)

        def weights(self) -> np.ndarray:
            return self.learned

except ImportError as error:
    MISSING["numba"] = str(error)

try:
    from padasip.filters import FilterRLS

    @contestant("padasip")
    class Padasip:
        """padasip's FilterRLS: one filter, with a matrix of its own, for each output; O(d^3) a step."""

        largest = 6000

        def __init__(self, d: int, n_outputs: int) -> None:
            self.filters = [FilterRLS(d, mu=1.0, eps=1.0, w="zeros") for _ in range(n_outputs)]

        def step(self, z: np.ndarray, y: np.ndarray) -> None:
            for one, target in zip(self.filters, y, strict=True):
                one.predict(z)
                one.adapt(target, z)

        def weights(self) -> np.ndarray:
            return np.column_stack([one.w for one in self.filters])

except ImportError as error:
    MISSING["padasip"] = str(error)

try:
    from river.linear_model import BayesianLinearRegression

    @contestant("river")
    class River:
        """river's BayesianLinearRegression: one for each output, fed with a dictionary for each sample."""

        largest = 6000

        def __init__(self, d: int, n_outputs: int) -> None:
            self.models = [BayesianLinearRegression(alpha=1, beta=1) for _ in range(n_outputs)]
            self.names = list(range(d))

        def step(self, z: np.ndarray, y: np.ndarray) -> None:
            row = dict(zip(self.names, z.tolist(), strict=True))
            for model, target in zip(self.models, y.tolist(), strict=True):
                model.predict_one(row)
                model.learn_one(row, target)

        def weights(self) -> np.ndarray:
            unit = np.eye(len(self.names)).tolist()
            rows = [dict(zip(self.names, row, strict=True)) for row in unit]
            return np.array([[model.predict_one(row) for model in self.models] for row in rows])

except ImportError as error:
    MISSING["river"] = str(error)
