"""A Gaussian process with explicit basis functions: rigid bodies and random features learned together, exactly."""

from collections.abc import Mapping, Sequence
from copy import copy
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.noise.noise_variance import OutputNoise
from icub_learning.dynamics.joint import _experts, _joint
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.errors import StateError
from icub_learning.models import nested, part
from icub_learning.recursive import Certainty, RecursiveLeastSquares


class BodyCertainty(NamedTuple):
    """What the variance of a prediction by base parameters is computed from."""

    triangle: Array  # packed factor of the learner of gamma, see BaseColumns
    weights: Array  # (n_outputs,) factors on the rows of the outputs, which give the noise of all one variance
    noise: Array  # (n_outputs,) variance of the noise; zero before the first sample


class ProcessCertainty(NamedTuple):
    """Tells the variance of a process's predictions over that of the noise, Rasmussen and Williams 2006, eq. 2.41."""

    features: Certainty | RecursiveLeastSquares  # gives phi' A^-1 phi
    columns: BaseColumns | None  # None without rigid bodies
    maps: Array  # (n_entries, n_features or padded) weights of phi in the entries of Y_b
    body: BodyCertainty | None  # tells the variance of beta; None without rigid bodies
    noise: Array  # (n_outputs,) variance of the noise; zero before the first sample

    def of_features(self, phi: Array) -> float:
        """Return phi' A^-1 phi for phi (n_features,): the variance of NP over that of the noise."""
        return float(self.features.leverage(phi))

    def of_rigid_bodies(self, phi: Array, rows: Array, recent: Sequence[BodyCertainty] = ()) -> Array:
        """Return the variance of D beta, with D what features leave of Y_b: what SP does not know either, (n_outputs,).

        Further rows hold the variance of Y_b beta for each of the `recent` bodies. `rows` is Y_b (n_outputs, n_base) of
        the motion of phi (n_features,).
        """
        found = np.zeros((1 + len(recent), len(self.noise)))
        if self.columns is not None and self.body is not None:
            _experts.unlearned(found, phi, rows, self.maps, self.columns.memory, (self.body, *recent))
        return found


class JointProcess:
    """Learns y_t = Y_t beta + phi' w_t + noise for all outputs t at once, sample by sample.

    See docs/theory/joint_model.md. With w_t ~ N(0, s_t^2 / regularization), noise of variance s_t^2, and the prior of
    `BaseColumns` for beta, this is a Gaussian process with explicit basis functions (O'Hagan 1978; Rasmussen and
    Williams 2006, eq. 2.41-2.42), here on random features. One factor of A = sum phi phi' + regularization I serves all
    outputs; its targets are the outputs y and the entries of Y that are not zero by structure. What it could not
    predict of a sample, the recursive residuals of Y and y, is a sample of beta alone, from which a second recursive
    least squares learns beta. Nothing that was learned depends on beta: a new beta re-targets the past by itself.

    Args:
        columns: the columns of the regressor; None for features alone.
        n_outputs: number T of outputs.
        n_features: number d of features, the size of phi.
        regularization: noise variance over the variance of the features' weights.
        output_weights: how much each output counts for beta, see OutputNoise.
    """

    def __init__(
        self, columns: BaseColumns | None, n_outputs: int, n_features: int, regularization: float, output_weights: str
    ) -> None:
        self.columns, self.n_outputs = columns, n_outputs
        n_targets = n_outputs + (0 if columns is None else len(columns.entries))
        self._features = RecursiveLeastSquares(n_features, n_targets, regularization)
        self._rigid = None if columns is None else RecursiveLeastSquares(len(columns.kept), 1)
        self._maps: Array | None = None  # kept up to date by `learn`; None: to be computed
        self._outputs = OutputNoise(output_weights, n_outputs)

    @property
    def n_samples(self) -> int:
        """Number of samples learned."""
        return self._features.n_samples

    @property
    def gamma(self) -> Array:
        """Estimate of gamma (n_base,), see BaseColumns; empty without rigid bodies. It changes with the next sample."""
        return np.zeros(0) if self._rigid is None else self._rigid.live_weights[0]

    def maps(self) -> Array:
        """Return the weights of phi in NP and SP, (2, n_outputs, n_features); (1, ...) without rigid bodies.

        NP is the first times phi, SP the second times phi plus Y_b beta.
        """
        if self.columns is None:
            return np.array(self._features.live_weights[None])
        if self._maps is None:
            self._maps = np.empty((2, self.n_outputs, self._features.n_features))
            _joint.maps(self._maps, self._features.padded_weights, self.columns.memory, self.gamma)
        return self._maps

    def certainty(self, live: bool = False) -> ProcessCertainty:
        """Return what tells the variance of predictions: a snapshot or, with `live`, valid until the next sample."""
        features, rigid, noise = self._features, self._rigid, self._outputs.noise.known
        maps, triangle = features.padded_weights[self.n_outputs :], None if rigid is None else rigid.memory[0]
        if not live:
            maps, triangle = maps.copy(), None if triangle is None else triangle.copy()
        body = None if triangle is None else BodyCertainty(triangle, self._outputs.weights, noise)
        return ProcessCertainty(features if live else features.certainty(), self.columns, maps, body, noise)

    def learn(
        self, phi: Array, rows: Array | None, y: Array, forgetting: float = 1.0, count: int = 1, share: float = 1.0
    ) -> None:
        """Learn one sample, which counts as `count` of them; all past ones fade by `forgetting`, in (0, 1]. For the
        noise it counts by a share in [0, 1].

        Args:
            phi: (n_features,) features of its motion.
            rows: (n_outputs, n_base) Y_b of its motion; None without rigid bodies.
            y: (n_outputs,) measured outputs.
        """
        columns, root = self.columns, sqrt(count)
        self._features.forgetting = forgetting
        if columns is None or self._rigid is None or rows is None:
            # Recursive residuals have the variance of the noise.
            self._outputs.noise.update(self._features.absorb(root * phi, root * y)[0] / root, 0.0, share)
            return
        self._rigid.forgetting = forgetting
        estimates, self._maps = np.empty(self.n_outputs), np.empty((2, self.n_outputs, len(phi)))
        factors, weights = (self._features.ahead(), self._rigid.ahead()), self._outputs.weights
        _joint.learn(*factors, columns.memory, estimates, self._maps, phi, rows, y, weights, root)
        self._outputs.add(estimates, y, share)

    def _rigid_rows(self, left: Array, weights: Array) -> tuple[Array, Array]:
        """Return rows (k n_outputs, n_base) and targets of the second factor, from what features leave of k samples."""
        columns, count = self.columns, len(left) * self.n_outputs
        assert columns is not None
        z, target = np.empty((count, len(columns.kept))), np.empty((count, 1))
        _joint.rows(z, target, left, columns.memory, weights)
        return z, target

    def merge(self, other: "JointProcess", common: "JointProcess | None" = None) -> None:
        """Pool the samples of another process exactly, as if one had seen all of them; those of `common` count once.

        Raises ParameterError: the other one is of other sizes, or has forgotten some of the common samples; this one
        must not be used then: pool into a copy.
        """
        self._maps = None
        pooled = self._features.merge(other._features, None if common is None else common._features)
        if self._rigid is not None and other._rigid is not None:
            theirs = RecursiveLeastSquares.from_state(other._rigid.state())
            # The least weights that its samples can have had: no more is taken out than was learned.
            theirs.withdraw(*other._rigid_rows(pooled.lost, other._outputs.least_weights))
            self._rigid.merge(theirs, None if common is None else common._rigid)
            forgetting, n_samples = self._rigid.forgetting, self._rigid.n_samples
            self._rigid.forgetting = 1.0
            self._rigid.update(*self._rigid_rows(pooled.gained, self._outputs.weights))
            self._rigid.forgetting, self._rigid.n_samples = forgetting, n_samples
        self._outputs.noise.merge(other._outputs.noise, 0 if common is None else common.n_samples)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `restored`."""
        state = nested("features", self._features.state()) | self._outputs.state()
        if self._rigid is None:  # nothing to weigh
            del state["weights"]
            return state
        return state | nested("rigid", self._rigid.state())

    def restored(self, state: Mapping[str, Any]) -> "JointProcess":
        """Return a process of the same sizes with what `state` saved. Raises StateError."""
        made = copy(self)
        made._maps, made._features = None, of_same_size(self._features, part(state, "features"))
        weights = {"weights": self._outputs.weights} if self._rigid is None else {}
        made._outputs = self._outputs.restored({**state, **weights})
        if self._rigid is not None:
            made._rigid = of_same_size(self._rigid, part(state, "rigid"))
        return made


def of_same_size(made: RecursiveLeastSquares, state: Mapping[str, Any]) -> RecursiveLeastSquares:
    """Rebuild a learner of the sizes of `made` from its saved state. Raises StateError."""
    saved = RecursiveLeastSquares.from_state(state)
    sizes, expected = ((one.n_features, one.n_outputs) for one in (saved, made))
    if sizes != expected:
        raise StateError(f"saved weights {sizes} do not fit {expected}", name="weights")
    return saved
