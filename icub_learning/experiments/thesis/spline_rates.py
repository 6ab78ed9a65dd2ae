"""Random features on splines, where the excess risk is known in closed form (thesis 5.4, figure 5.2)."""

import numpy as np

from icub_learning.arrays import Array

HARMONICS = 50  # terms of each series; coefficients of further ones are below 4e-4 here, their squares below lambda
SLACK = 0.01  # epsilon, which is added to the order of the spline that is learned
X0 = 0.3  # x0, at which the spline that is learned is centred
NOISE = 0.5  # standard deviation; the source does not give its own
LEVELS = np.logspace(-6, 0, 97)  # values of lambda that are tried
NEAR = 1.05  # features are enough if their excess risk is at most this many times that of KRLS


def rates(r: float, gamma: float) -> dict[str, float]:
    """Return exponents of n: risk n^(-2r / (2r + gamma)), lambda n^(-1 / (2r + gamma)), m = lambda^-(gamma + 2r - 1).

    They are those of theorem 11 for alpha = gamma. The number of centres is that of theorem 1 without log n, of order
    lambda^-gamma log(1 / lambda) if, as here, the kernel depends on differences alone.
    """
    scale = 2 * r + gamma
    features = (gamma + 2 * r - 1) / scale
    return {"risk": -2 * r / scale, "regularization": -1 / scale, "features": features, "centers": gamma / scale}


def basis(x: Array) -> Array:
    """Return the functions 1, sqrt(2) cos(2 pi k x), sqrt(2) sin(2 pi k x), orthonormal on [0, 1], as (n, 2 K + 1)."""
    phase = 2 * np.pi * np.multiply.outer(x, np.arange(1, HARMONICS + 1))
    return np.hstack([np.ones((len(x), 1)), np.sqrt(2) * np.cos(phase), np.sqrt(2) * np.sin(phase)])


def decay(order: float) -> Array:
    """Return the coefficients of the spline kernel of that order on the basis: 1, then k^-order, twice."""
    falling = np.arange(1.0, HARMONICS + 1) ** -order
    return np.concatenate([[1.0], falling, falling])


def truth(r: float, gamma: float) -> Array:
    """Return the coefficients of f = K_{r / gamma + 1/2 + epsilon}(., x0)."""
    return decay(r / gamma + 0.5 + SLACK) * basis(np.array([X0]))[0]


class Simulation:
    """Repeated draws of n samples y = f(x) + noise, and the excess risks of KRLS and of random features on them.

    KRLS with the kernel of the features, K_{1/gamma} = E psi psi with psi = K_{1/(2 gamma)}, is ridge regression on the
    basis functions times k^(-1 / (2 gamma)), and random features psi(omega_j, .), omega uniform, are combinations of
    the basis functions: samples enter by sums alone, and the excess risk is the squared distance of coefficients.
    f has the smoothness r in [1/2, 1], the eigenvalues have the decay gamma in (0, 1/2).
    """

    def __init__(self, n: int, r: float, gamma: float, n_draws: int, seed: int) -> None:
        self._target = truth(r, gamma)
        self._weights = decay(1 / (2 * gamma))
        size = len(self._target)
        self._grams, self._moments = np.empty((n_draws, size, size)), np.empty((n_draws, size))
        self._random = [np.random.default_rng([seed, n, draw]) for draw in range(n_draws)]
        for draw, random in enumerate(self._random):
            functions = basis(random.uniform(size=n))
            y = functions @ self._target + NOISE * random.normal(size=n)
            self._grams[draw] = functions.T @ functions / n
            self._moments[draw] = functions.T @ y / n

    def kernel_risks(self) -> Array:
        """Return the excess risks of KRLS at each of LEVELS, (n_draws, n_levels)."""
        w = self._weights
        values, vectors = np.linalg.eigh(w[:, None] * self._grams * w)
        rotated = np.einsum("dij,di->dj", vectors, w * self._moments)
        shrunk = rotated[:, :, None] / (np.maximum(values, 0.0)[:, :, None] + LEVELS)
        return self._risks((w[:, None] * (vectors @ shrunk)).swapaxes(1, 2))

    def feature_risks(self, level: float, bound: float, most: int = 5000) -> tuple[list[int], Array]:
        """Return excess risks over growing numbers of features, until their mean over the draws is at most `bound`.

        With P = sum_j psi_j psi_j^T / m on the basis, the coefficients are (P G + lambda I)^-1 P b. Returns numbers of
        features, in steps of about 5 %, and risks (n_draws, len(numbers)).
        """
        sums, count = np.zeros_like(self._grams), 0
        counts: list[int] = []
        risks: list[Array] = []
        while count < most and (not risks or risks[-1].mean() > bound):
            more = max(1, count // 20)
            for draw, random in enumerate(self._random):
                features = self._weights * basis(random.uniform(size=more))
                sums[draw] += features.T @ features
            count += more
            weighed = sums / count
            system = weighed @ self._grams + level * np.eye(len(self._target))
            right = np.einsum("dij,dj->di", weighed, self._moments)
            counts.append(count)
            risks.append(self._risks(np.linalg.solve(system, right[:, :, None])[:, :, 0]))
        return counts, np.stack(risks, axis=1)

    def center_risks(self, level: float, bound: float) -> tuple[list[int], Array]:
        """Return excess risks of Nyström KRLS over growing numbers of centres, as `feature_risks` does. On an
        orthonormal basis V of the centres' functions the solution is V (V^T W G W V + lambda I)^-1 V^T W b."""
        w, most = self._weights, len(self._weights)
        centers = [w * basis(random.uniform(size=most)) for random in self._random]
        bases = np.linalg.qr(np.swapaxes(centers, 1, 2))[0]  # the first m columns span the first m centres
        grams = bases.swapaxes(1, 2) @ (w[:, None] * self._grams * w) @ bases
        moments = np.einsum("dji,dj->di", bases, w * self._moments)
        risks: list[Array] = []
        while len(risks) < most and (not risks or risks[-1].mean() > bound):
            m = len(risks) + 1
            inside = np.linalg.solve(grams[:, :m, :m] + level * np.eye(m), moments[:, :m, None])
            risks.append(self._risks(w * (bases[:, :, :m] @ inside)[:, :, 0]))
        return list(range(1, len(risks) + 1)), np.stack(risks, axis=1)

    def _risks(self, coefficients: Array) -> Array:
        return np.sum((coefficients - self._target) ** 2, axis=-1)


def choose(kernel_risks: Array) -> tuple[float, float]:
    """Return the least mean excess risk over the draws, and the lambda that reaches it."""
    mean = kernel_risks.mean(axis=0)
    best = int(mean.argmin())
    return float(mean[best]), float(LEVELS[best])


def enough(counts: list[int], feature_risks: Array, bound: float) -> int:
    """Return the least number of features whose mean excess risk is at most `bound`; the largest if none reaches it."""
    good = np.flatnonzero(feature_risks.mean(axis=0) <= bound)
    return counts[int(good[0])] if len(good) else counts[-1]
