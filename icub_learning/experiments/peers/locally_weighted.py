"""Locally weighted projection regression (Vijayakumar, D'Souza and Schaal, Neural Computation 17, 2005)."""

import numpy as np

from icub_learning.arrays import Array

LARGEST_STEP = 0.01  # largest relative change of a local model's shape by one sample
MOST_LEVERAGE = 0.8  # largest leverage of a sample in a local model that has learned it
LEAST_WEIGHT = 1e-3  # smallest weight with which a local model takes part
PROJECTIONS = 6  # most projections of a local model
ADD = 0.5  # a projection is added while the last one reduced the squared error to less than this share
PENALTY = 1e-6  # weight of the penalty on narrow local models
SURE = 2  # samples per dimension that a local model has seen before its shape is changed
FORGETTING, LAST_FORGETTING, FORGETTING_RATE = 0.999, 0.99999, 0.9999  # first and last factor, rate between


class LocallyWeightedProjections:
    """Local linear models, each a few projections of partial least squares, with a shape that gradient descent finds.

    All local models of all outputs lie in common arrays; each belongs to one output. A new model has D = `distance` * I
    in exp(-(x - c)' D (x - c) / 2), `rate` is the step size of gradient descent on the square root of the diagonal D,
    and a new model is made where no weight of an output's models is above `generate`.
    """

    def __init__(self, n_inputs: int, n_outputs: int, distance: float, rate: float, generate: float = 0.1) -> None:
        self._d, self._m = n_inputs, n_outputs
        self._distance, self.rate, self._generate = distance, rate, generate
        self.n = 0
        d, r = n_inputs, PROJECTIONS
        shapes = {
            "centre": (d,), "root": (d,), "mean_x": (d,), "mean_y": (), "weight": (), "count": (), "used": (),
            "forgetting": (), "cov": (r, d), "slope": (r,), "ss": (r,), "sr": (r,), "sx": (r, d), "mse": (r + 1,),
            "h": (r + 1,), "r": (r + 1,), "w": (), "e": (), "owner": (),
        }  # fmt: skip
        self.arrays = {name: np.zeros((64, *shape)) for name, shape in shapes.items()}

    def _weights(self, x: Array) -> Array:
        a, n = self.arrays, self.n
        return np.asarray(np.exp(-0.5 * (((x - a["centre"][:n]) * a["root"][:n]) ** 2).sum(axis=1)))

    def predict(self, x: Array) -> Array:
        """Return the outputs (n_outputs,) at x (d,): means of the local models by their weights; 0 without any."""
        weights = self._weights(x)
        near = np.flatnonzero(weights > LEAST_WEIGHT)
        if not len(near):
            return np.zeros(self._m)
        a = self.arrays
        used, left = a["used"][near], x - a["mean_x"][near]
        s = np.zeros((len(near), PROJECTIONS))
        for k in range(int(used.max())):
            direction, ss = a["cov"][near, k], a["ss"][near, k]
            length = np.sqrt((direction**2).sum(axis=1))
            active = (used > k) & (length > 1e-12)
            s[:, k] = np.where(active, (left * direction).sum(axis=1) / np.where(active, length, 1.0), 0.0)
            left = left - s[:, k, None] * (a["sx"][near, k] / np.maximum(ss, 1e-12)[:, None])
        values = a["mean_y"][near] + (s * a["slope"][near]).sum(axis=1)
        owner = a["owner"][near].astype(int)
        sums = np.bincount(owner, weights[near] * values, self._m)
        return np.asarray(sums / np.maximum(np.bincount(owner, weights[near], self._m), 1e-12))

    def learn(self, x: Array, y: Array) -> None:
        weights = self._weights(x)
        near = np.flatnonzero(weights > LEAST_WEIGHT)
        if len(near):
            self._update(near, weights[near], x, y)
        owner = self.arrays["owner"][: self.n].astype(int)
        best = np.zeros(self._m)
        np.maximum.at(best, owner, weights)
        for output in np.flatnonzero(best <= self._generate):
            self.add(x, float(y[output]), int(output))

    def add(self, x: Array, y: float, output: int) -> None:
        """Add a local model of an output, centred at x (d,), where the output is y."""
        a = self.arrays
        if self.n == len(a["weight"]):
            for name, values in a.items():
                a[name] = np.concatenate([values, np.zeros_like(values)])
        k, self.n = self.n, self.n + 1
        a["centre"][k] = a["mean_x"][k] = x
        a["root"][k], a["mean_y"][k], a["owner"][k] = np.sqrt(self._distance), y, output
        a["weight"][k], a["used"][k], a["forgetting"][k] = 1e-10, min(2, self._d), FORGETTING
        a["ss"][k], a["w"][k] = 1e-10, 1e-10

    def _update(self, near: np.ndarray, w: Array, x: Array, y: Array) -> None:
        a = self.arrays
        fade, target = a["forgetting"][near], y[a["owner"][near].astype(int)]
        before = fade * a["weight"][near]
        total = before + w
        a["mean_x"][near] = (before[:, None] * a["mean_x"][near] + w[:, None] * x) / total[:, None]
        a["mean_y"][near] = (before * a["mean_y"][near] + w * target) / total
        a["weight"][near], a["count"][near] = total, a["count"][near] + 1
        centred, used = x - a["mean_x"][near], a["used"][near]
        rest, left = target - a["mean_y"][near], centred
        s_all = np.zeros((len(near), PROJECTIONS))
        a["mse"][near, 0] = fade * a["mse"][near, 0] + w * rest**2
        for k in range(int(used.max())):
            on = used > k
            of, some, wk, fk = near[on], left[on], w[on], fade[on]
            cov = a["cov"][of, k] = fk[:, None] * a["cov"][of, k] + (wk * rest[on])[:, None] * some
            s = (some * cov).sum(axis=1) / np.maximum(np.sqrt((cov**2).sum(axis=1)), 1e-12)
            ss = a["ss"][of, k] = fk * a["ss"][of, k] + wk * s**2
            sr = a["sr"][of, k] = fk * a["sr"][of, k] + wk * s * rest[on]
            sx = a["sx"][of, k] = fk[:, None] * a["sx"][of, k] + (wk * s)[:, None] * some
            a["slope"][of, k] = sr / ss
            s_all[on, k] = s
            rest, left = rest.copy(), left.copy()
            rest[on] -= s * a["slope"][of, k]
            left[on] -= s[:, None] * sx / ss[:, None]
            a["mse"][of, k + 1] = fk * a["mse"][of, k + 1] + wk * rest[on] ** 2
        self._reshape(near, w, x, rest, s_all)
        a["forgetting"][near] = FORGETTING_RATE * fade + LAST_FORGETTING * (1 - FORGETTING_RATE)
        last = used.astype(int)
        seen = a["count"][near] > SURE * self._d * last
        gained = a["mse"][near, last] < ADD * a["mse"][near, last - 1]
        a["used"][near[seen & gained & (used < min(PROJECTIONS, self._d))]] += 1

    def _reshape(self, near: np.ndarray, w: Array, x: Array, rest: Array, s: Array) -> None:
        """Descend along the gradient of the leave-one-out error, by the paper's stochastic approximation of it."""
        a = self.arrays
        # Errors of a young model say nothing yet, as its few samples determine it too much.
        sure = a["count"][near] > SURE * self._d
        near, w, rest, s = near[sure], w[sure], rest[sure], s[sure]
        fade = a["forgetting"][near]
        s = np.column_stack([s, np.ones(len(near))])  # the mean is one more projection
        scaled = s / np.column_stack([np.maximum(a["ss"][near], 1e-10), a["weight"][near]])
        leverage = np.minimum(w * (s * scaled).sum(axis=1), MOST_LEVERAGE)
        held_out = rest / (1.0 - leverage)
        total = a["w"][near] = fade * a["w"][near] + w
        a["e"][near] = fade * a["e"][near] + w * held_out**2
        slope = (
            held_out**2 * (1.0 + leverage) / (1.0 - leverage) - a["e"][near] / total
            - 2.0 * rest * (scaled * a["h"][near]).sum(axis=1) - 2.0 * (scaled**2 * a["r"][near]).sum(axis=1)
        ) / total  # fmt: skip
        a["h"][near] = fade[:, None] * a["h"][near] + (w * held_out / (1.0 - leverage))[:, None] * s
        a["r"][near] = fade[:, None] * a["r"][near] + (w**2 * held_out**2 / (1.0 - leverage))[:, None] * s**2
        root = a["root"][near]
        gradient = -(w * slope)[:, None] * root * (x - a["centre"][near]) ** 2
        gradient += (w / total * 4.0 * PENALTY)[:, None] * root**3
        largest = LARGEST_STEP * root  # a larger step would change the sign, or explode
        a["root"][near] = root - np.clip(self.rate * gradient, -largest, largest)
