"""The rivals with their settings, and what each is told about a robot before it learns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor, base_columns
from icub_learning.experiments.peers.likelihood import Kernel, most_likely_kernel
from icub_learning.experiments.peers.local_processes import LocalProcesses
from icub_learning.experiments.peers.locally_weighted import LocallyWeightedProjections
from icub_learning.experiments.peers.network import ReplayNetwork
from icub_learning.experiments.peers.streaming_process import StreamingProcess
from icub_learning.recursive import RecursiveLeastSquares

Choices = Mapping[str, tuple[Any, ...]]


class Learner(Protocol):
    """A learner that takes part in the comparison."""

    def predict(self, motion: Array) -> Array:
        """Return the outputs (n_outputs,) for a motion (3 n_joints,), or for another input (d,)."""

    def learn(self, motion: Array, y: Array) -> None:
        """Learn the outputs y (n_outputs,) of a motion."""


@dataclass(frozen=True)
class Told:
    """What rivals are told before they learn."""

    regressor: Regressor  # regressor of the robot
    # means and deviations of motions, (3 n_joints,) each, and of targets, (n_outputs,) each, in the whole recording
    scales: tuple[Array, Array, Array, Array]
    motions: Array  # motions (n, 3 n_joints) in the part for choosing settings
    targets: Array  # targets (n, n_outputs) there
    seed: int  # seed of all that is random

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel with which the targets are most likely."""
        mean_x, scale_x, mean_y, scale_y = self.scales
        return most_likely_kernel((self.motions - mean_x) / scale_x, (self.targets - mean_y) / scale_y, self.seed)


class RigidBodies:
    """Recursive least squares of base parameters (Gautier and Khalil 1992), with exponential forgetting.

    The regressor has friction and offsets. Rows are scaled by the deviations of the outputs, `scale` (n_outputs,), and
    columns by their RMS over `motions` (n, 3 n_joints): outputs of all units count alike, one number regularizes all.
    """

    def __init__(
        self, regressor: Regressor, motions: Array, scale: Array, regularization: float, forgetting: float
    ) -> None:
        self._regressor, self._scale = regressor, scale
        self._columns = base_columns(regressor.base_projection)
        rows = np.array([self._scaled(motion) for motion in motions[:: max(1, len(motions) // 200)]])
        length = np.sqrt((rows**2).mean(axis=(0, 1)))
        self._length = np.where(length > 1e-9 * length.max(), length, np.inf)
        self._rls = RecursiveLeastSquares(len(self._columns), 1, regularization, forgetting)

    def _scaled(self, motion: Array) -> Array:
        return np.asarray(self._regressor(*np.split(motion, 3))[:, self._columns] / self._scale[:, None])

    def predict(self, motion: Array) -> Array:
        return np.asarray(self._rls.predict(self._scaled(motion) / self._length)[:, 0] * self._scale)

    def learn(self, motion: Array, y: Array) -> None:
        self._rls.update(self._scaled(motion) / self._length, (y / self._scale)[:, None], same_instant=True)


class SparseSpectrumProcess:
    """Bayesian linear regression on cosines and sines of random frequencies, sample by sample (I-SSGPR; Gijsberts and
    Metta, Neural Networks 41, 2013).

    The frequencies, half as many as features, are drawn from the spectral density of the kernel; the factor of the
    precision, which outputs share, gets a rank-one update with each sample by the core of this package.
    """

    def __init__(self, kernel: Kernel, n_outputs: int, frequencies: int, seed: int) -> None:
        shape = len(kernel.length_scales), frequencies
        self._frequencies = np.random.default_rng(seed).standard_normal(shape) / kernel.length_scales[:, None]
        self._scale = 1.0 / np.sqrt(frequencies)
        self._rls = RecursiveLeastSquares(2 * frequencies, n_outputs, kernel.noise)

    def features(self, x: Array) -> Array:
        """Return the features (2 frequencies,) of x (d,), a vector of length 1."""
        phases = x @ self._frequencies
        return np.concatenate([np.cos(phases), np.sin(phases)]) * self._scale

    def predict(self, x: Array) -> Array:
        return self._rls.predict(self.features(x))

    def learn(self, x: Array, y: Array) -> None:
        self._rls.update(self.features(x), y)


class Scaled:
    """A learner whose motions and outputs are standardized: less their means, over their standard deviations."""

    def __init__(self, learner: Learner, told: Told) -> None:
        self._learner = learner
        self._mean_x, self._scale_x, self._mean_y, self._scale_y = told.scales

    def predict(self, motion: Array) -> Array:
        return self._learner.predict((motion - self._mean_x) / self._scale_x) * self._scale_y + self._mean_y

    def learn(self, motion: Array, y: Array) -> None:
        self._learner.learn((motion - self._mean_x) / self._scale_x, (y - self._mean_y) / self._scale_y)


@dataclass(frozen=True)
class Rival:
    """One rival and the candidates for its settings."""

    name: str  # short name
    source: str  # who published it
    kind: type[Learner]  # class of the learner, or of the one that `Scaled` wraps
    choices: Choices  # candidates for each of its settings; the search starts from the first ones
    make: Callable[..., Learner]  # makes a learner from `Told` and its settings
    by_likelihood: bool = False  # whether length scales and noise are first found by likelihood
    on_top: bool = True  # whether it is tried on top of rigid bodies as well


def _process(kind: Callable[..., Learner], **fixed: Any) -> Callable[..., Learner]:
    return lambda told, length, noise, **own: Scaled(
        kind(told.kernel.scaled(length, noise), told.targets.shape[1], seed=told.seed, **own, **fixed), told
    )


LENGTH, NOISE = (2.0, 4.0, 1.0, 8.0), (1.0, 0.1, 10.0)  # factors on the most likely values
LOCAL: Choices = {"length": LENGTH, "noise": NOISE, "size": (200, 100), "overlap": (0.05, 0.2)}
RIVALS = (
    Rival("rigid-body RLS", "Gautier and Khalil 1992", RigidBodies,
          {"regularization": (1e-2, 1e-4, 1.0), "forgetting": (1.0, 0.9999, 0.999, 0.99)},
          lambda told, **own: RigidBodies(told.regressor, told.motions, told.scales[3], **own), on_top=False),
    Rival("LWPR", "Vijayakumar, D'Souza and Schaal 2005", LocallyWeightedProjections,
          {"distance": (0.1, 0.03, 0.3, 0.01), "rate": (1.0, 10.0, 0.0)},
          lambda told, **own: Scaled(
              LocallyWeightedProjections(told.motions.shape[1], told.targets.shape[1], **own), told)),
    Rival("I-SSGPR", "Gijsberts and Metta 2013", SparseSpectrumProcess,
          {"length": LENGTH, "noise": NOISE, "frequencies": (200, 100)}, _process(SparseSpectrumProcess), True),
    Rival("LoG-GP mixture", "Lederer and others 2021", LocalProcesses, LOCAL,
          _process(LocalProcesses, aggregation="mixture"), True),
    Rival("LoG-GP product", "Lederer and others 2021", LocalProcesses, LOCAL,
          _process(LocalProcesses, aggregation="product"), True),
    Rival("streaming sparse GP", "Bui, Nguyen and Turner 2017", StreamingProcess,
          {"length": LENGTH, "noise": NOISE, "inducing": (200, 100)}, _process(StreamingProcess), True),
    Rival("network with replay", "two layers of tanh, Adam", ReplayNetwork,
          {"width": (64, 128), "rate": (3e-3, 1e-3, 1e-2), "batch": (16, 32)},
          lambda told, **own: Scaled(
              ReplayNetwork(told.motions.shape[1], told.targets.shape[1], seed=told.seed, **own), told)),
)  # fmt: skip
