"""What a fleet of robots has learned: models gathered as files, pooled so that each sample counts once, and spread."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from icub_learning.arrays import integer
from icub_learning.dynamics.assembly import AnyEstimator
from icub_learning.dynamics.saved_model import estimator_of
from icub_learning.errors import ParameterError, StateError
from icub_learning.files import locked
from icub_learning.models import ModelHeader, read_model, write_model
from icub_learning.models.header import digest_of_text
from icub_learning.models.ledger import Holdings, accounted, check_robot, held_by, read_holdings, shared

POOLED = "pooled.npz"
DIGEST = 16  # characters of a digest in the name of a file


class Gathered(NamedTuple):
    """What the model of one file added."""

    robot: str  # name of its robot
    samples: int  # samples in it
    new: int  # those of them that no earlier model held
    sensor: str  # name of its force/torque sensor, "" where joint torques were learned


class Fleet:
    """A folder with the pooled model of a fleet, and with models that may share samples with later ones.

    `pooled.npz` is what all robots know. `spread/` keeps the last pooled models, from which robots go on, and `robots/`
    the last model of each robot, from which it may go on as well. A later model shares with the pooled one exactly what
    one of these holds: that is taken out before the two are added.

    Args:
        folder: made where it is missing.
        keep: number of pooled models that are kept, at least 1 (ParameterError).
        own: import path of the class of the learners, if it is none of this package's.

    Attributes:
        pooled: file of the pooled model, which is there once something was gathered.
    """

    def __init__(self, folder: Path, keep: int = 20, own: str = "") -> None:
        self._keep, self._own = integer("keep", keep, 1), own
        self.folder, self.pooled = folder, folder / POOLED

    def gather(self, files: Sequence[tuple[str, Path]], *, any_urdf: bool = False) -> list[Gathered]:
        """Add the models of robots to the pooled one, all of them or none, after other processes that do so have ended.

        Args:
            files: names of robots, each with the file of its model.
            any_urdf: whether the URDFs of the robots may differ.

        Raises:
            ParameterError: a name is not valid, or comes twice; a model shares samples with the pooled one that no kept
                model holds alone.
            StateError: a file is no model of inverse dynamics; its robot or features differ; it forgot shared samples.
        """
        with locked(self.folder):
            return self._gather(files, any_urdf)

    def _gather(self, files: Sequence[tuple[str, Path]], any_urdf: bool) -> list[Gathered]:
        pooled, header = self._read(self.pooled) if self.pooled.exists() else (None, None)
        taken: list[tuple[str, AnyEstimator, ModelHeader]] = []
        results = []
        for robot, path in files:
            if [name for name, _ in files].count(check_robot(robot)) > 1:
                raise ParameterError("robot", robot, "another one for each model; name it as NAME=FILE")
            model, found = self._read(path)
            if pooled is None or header is None:
                before, pooled, header = 0, estimator_of(accounted(model), self._own), found
            else:
                found.check_origin(header, any_urdf=any_urdf)
                before = pooled.n_samples
                self._add(pooled, model, robot, taken)
            results.append(Gathered(robot, model.n_samples, pooled.n_samples - before, found.sensor))
            taken.append((robot, model, found))
        if pooled is None or header is None or (self.pooled.exists() and not any(one.new for one in results)):
            return results
        robots = self.folder / "robots"
        kept = {_write(robots / f"{robot}.{_digest(held_by(one))}.npz", one, found) for robot, one, found in taken}
        written = _write(self.folder / "spread" / f"{time.time_ns()}.{_digest(held_by(pooled))}.npz", pooled, header)
        _write(self.pooled, pooled, header)  # until here what is removed below may be needed to take out what is shared
        old = {path for robot, *_ in taken for path in robots.glob(f"{robot}.*.npz")} - kept
        for path in (*old, *sorted(written.parent.glob("*.npz"))[: -self._keep]):
            path.unlink()
        return results

    def spread(self, targets: Sequence[Path]) -> int:
        """Write the pooled model to files, each completely or not at all; return its number of bytes. Raises StateError
        if nothing was gathered, or a file cannot be written."""
        state, header = read_model(self.pooled)
        written = [write_model(target, state, header) for target in targets]
        return written[0].stat().st_size if written else 0

    def _add(self, whole: AnyEstimator, model: AnyEstimator, robot: str, taken: Sequence[tuple[str, Any, Any]]) -> None:
        both = shared(held_by(whole), held_by(model))
        common: Any = None
        if both and both not in (held_by(whole), held_by(model)):
            common = next((one for _, one, _ in taken if held_by(one) == both), None) or self._known(both)
            if common is None:
                text = f"{sum(both.values())} of the {model.n_samples} samples of {robot}"
                bound = "those of a model that was gathered from it or spread to it; let it go on from pooled.npz"
                raise ParameterError("shared samples", text, bound)
        try:
            whole.merge(model, common)  # type: ignore[arg-type]
        except ParameterError as error:
            raise StateError(f"the model of {robot} cannot be pooled: {error}", name=robot) from None

    def _known(self, holdings: Holdings) -> AnyEstimator | None:
        """Return a kept model that holds exactly these samples, None without one."""
        for place in ("spread", "robots"):
            for path in (self.folder / place).glob(f"*.{_digest(holdings)}.npz"):
                state, _ = read_model(path)
                if read_holdings(state) == holdings:
                    return estimator_of(state, self._own)
        return None

    def _read(self, path: Path) -> tuple[AnyEstimator, ModelHeader]:
        state, header = read_model(path)
        if "estimator" not in state:
            text = "holds no model of inverse dynamics: `icub-learning model merge` pools two models of objects"
            raise StateError(f"{path} {text}", name=str(path))
        if header is None:
            raise StateError(f"{path} does not say whose model it is; save it anew", name=str(path))
        return estimator_of(state, self._own), header


def keep_tare(before: AnyEstimator, loaded: AnyEstimator) -> bool:
    """Let a robot that goes on from a model of several, its own samples among them, keep its tare; return whether it
    differed. Each robot has a sensor of its own, and its samples were learned without its tare."""
    held, change = held_by(loaded), before.tared - loaded.tared
    if shared(held_by(before), held) in ({}, held) or not change.any():
        return False
    loaded.tare(change)
    return True


def _write(path: Path, model: AnyEstimator, header: ModelHeader) -> Path:
    statistics = {**header.statistics, "samples": model.n_samples}
    return write_model(path, accounted(model), replace(header, statistics=statistics, saved_at=time.time()))


def _digest(holdings: Holdings) -> str:
    return digest_of_text(json.dumps(holdings, sort_keys=True))[:DIGEST]
