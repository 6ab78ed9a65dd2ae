"""All that the page shows at one moment, which sources fill in and parts of the page read, and its calls of services.

Classes that hold arrays are compared by identity: a new message is a new object.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.detection.boxes import Detections
from icub_learning.evaluation.metrics import group_rmse
from icub_learning.recognition.recognizer import Recognition
from icub_learning.recording.recording import AXES
from icub_learning.reporting.wrench_errors import GROUPS, UNITS
from icub_learning.robots import is_xml, read_urdf

SPAN = 8.0  # [s] length of the curves
PERIOD = 0.05  # [s] time between two points of a curve
ERROR_SPAN = 3.0  # [s] time over which squared errors are averaged
SIGMAS = 2.0  # half the width of the band around a prediction, in standard deviations
TOGETHER = 3  # joints whose curves are shown at once


class Curves:
    """A window of the newest `capacity` points; older ones drop out."""

    def __init__(self, n_outputs: int, capacity: int = round(SPAN / PERIOD)) -> None:
        self._capacity, self._n_outputs = capacity, n_outputs
        self.clear()

    def clear(self) -> None:
        """Drop all points, as when time has been set back."""
        self._start = self.newest_stamp = 0  # stamps of the first and the newest point [ns]
        self.seconds = np.zeros(0)  # (n,), time since the first point ever [s]
        # (n, n_outputs) each, the last one a standard deviation
        self.measured = self.predicted = self.parametric = self.deviation = np.zeros((0, self._n_outputs))

    def __len__(self) -> int:
        return len(self.seconds)

    def add(self, stamp: int, measured: Array, predicted: Array, parametric: Array, variance: Array) -> None:
        """Append a point at a stamp [ns], (n_outputs,) each; one older than the newest starts the curves anew."""
        if stamp < self.newest_stamp:
            self.clear()
        if not len(self):
            self._start = stamp
        self.newest_stamp = stamp
        kept = slice(max(0, len(self) + 1 - self._capacity), None)
        self.seconds = np.append(self.seconds[kept], (stamp - self._start) * 1e-9)
        rows = {"measured": measured, "predicted": predicted, "parametric": parametric}
        rows["deviation"] = np.sqrt(np.maximum(variance, 0.0))
        for name, row in rows.items():
            setattr(self, name, np.vstack([getattr(self, name)[kept], row]))

    @property
    def external(self) -> Array:
        """Measured minus predicted, (n, n_outputs): contacts, and what has not been learned yet."""
        return self.measured - self.predicted

    def rmse(self, columns: slice, part: str = "predicted") -> float:
        """Return the RMSE of outputs over ERROR_SPAN, of the prediction or its rigid-body part; NaN without points."""
        if not len(self):
            return float("nan")
        recent = self.seconds > self.seconds[-1] - ERROR_SPAN
        return group_rmse((self.measured - getattr(self, part))[recent][:, columns])


class ErrorCurve:
    """Errors over minutes: a point each second (times [s], rows with a value per curve), thinned by half when full."""

    def __init__(self, capacity: int = 600) -> None:
        self._capacity, self._step = capacity, 1.0
        self.seconds: list[float] = []
        self.values: list[list[float]] = []

    def add(self, seconds: float, row: list[float]) -> bool:
        """Append a point unless it is too near to the last; return whether to draw again. Time set back starts anew."""
        if self.seconds and seconds < self.seconds[-1]:
            self.seconds, self.values, self._step = [], [], 1.0
        if self.seconds and seconds < self.seconds[-1] + self._step:
            return False
        self.seconds.append(seconds)
        self.values.append(row)
        if len(self.seconds) > self._capacity:
            self.seconds, self.values, self._step = self.seconds[::2], self.values[::2], 2.0 * self._step
        return len(self.seconds) > 1


@dataclass(frozen=True)
class Answer:
    """Answer of a service: whether it succeeded, and its message."""

    success: bool
    message: str


class Ask(Protocol):
    """Calls services of nodes; blocks until they answer: not for the thread that handles messages."""

    def __call__(self, node: str, service: str, takes: float = 0.0, **fields: object) -> Answer:
        """Call one of view.live.services.KINDS, which may take `takes` s; return its answer, or why there is none."""


@dataclass(frozen=True, eq=False)
class Load:
    """A load that is carried: mass [kg], centre of mass (3,) [m] in the frame of `link`."""

    mass: float
    centre: Array
    link: str


@dataclass(frozen=True, eq=False)
class Masses:
    """Masses of links [kg], (n,) each: learned, of the URDF, and of the nearest possible body; samples learned."""

    links: tuple[str, ...]
    learned: Array
    nominal: Array
    possible: Array
    n_samples: int


@dataclass
class Learner:
    """A node that learns inverse dynamics."""

    name: str  # name of the node, with its namespace
    outputs: tuple[str, ...]  # names of what it predicts
    frame: str = ""  # frame of the wrench; "" for efforts
    curves: Curves = field(init=False)  # curves of the newest seconds
    settings: dict[str, Any] = field(default_factory=dict)  # parameters that the page needs, as far as known
    weights: dict[str, dict[str, float]] = field(default_factory=dict)  # weights of P, NP and SP, by output
    masses: Masses | None = None  # masses published last; None before the first
    load: Load | None = None  # load published last; None before the first
    contact: bool | None = None  # contact published last; None before the first
    alive: bool = True  # whether predictions still come

    def __post_init__(self) -> None:
        self.curves = Curves(len(self.outputs))

    @property
    def is_wrench(self) -> bool:
        return self.outputs == AXES

    @property
    def short(self) -> str:
        """P, NP or SP where the name of the node or its estimator says so, else the name."""
        ending = self.name.rsplit("_", 1)[-1].upper()
        return ending if ending in ("P", "NP", "SP") else self.name.lstrip("/")

    def groups(self) -> dict[str, tuple[slice, str]]:
        """Return outputs and unit of each group of curves: force and torque, or some joints at a time."""
        if self.is_wrench:
            return {name: (columns, UNITS[name]) for name, columns in GROUPS.items()}
        n = len(self.outputs)
        parts = (slice(first, min(first + TOGETHER, n)) for first in range(0, n, TOGETHER))
        return {", ".join(self.outputs[part]): (part, "N m") for part in parts}


@dataclass(frozen=True)
class Health:
    """One status of /diagnostics: 0 OK, 1 WARN, 2 ERROR, 3 STALE; a summary; values by name; when it came [s]."""

    level: int
    message: str
    values: dict[str, str]
    arrival: float


@dataclass
class Watcher:
    """A node that recognizes objects in images, or finds them there, and what it said last."""

    objects: dict[str, int] = field(default_factory=dict)  # number of views or images of each object
    recall: dict[str, float] = field(default_factory=dict)  # recall of each object; NaN: unknown
    recognized: Recognition | None = None  # newest recognition; None before the first, and when it is silent
    boxes: Detections | None = None  # newest detections, likewise
    camera: str = ""  # topic of its images, "" as long as it is not known
    heard: float = 0.0  # when it last said what it sees [s, time.monotonic()]


@dataclass
class Robot:
    """A robot as it is drawn."""

    urdf: str = ""  # XML text of the robot, "" as long as it is not known; `urdf_path` its file, if it has one
    urdf_path: str = ""
    joints: dict[str, float] = field(default_factory=dict)  # position of each joint [rad or m]

    def set_urdf(self, urdf: str) -> None:
        """Set the robot: the path of a URDF, or XML text; "" for none. Raises ModelError if it cannot be read."""
        if urdf:
            read_urdf(urdf)
        self.urdf_path = "" if is_xml(urdf) else urdf
        self.urdf = Path(urdf).read_text(encoding="utf-8-sig") if self.urdf_path else urdf


@dataclass
class State(Robot):
    """All that is known at the moment; its own URDF, if there is one, is drawn whichever learner is chosen."""

    robots: dict[str, Robot] = field(default_factory=dict)  # robots of learners, by the names of these
    learners: dict[str, Learner] = field(default_factory=dict)  # learners by name
    recognizers: dict[str, Watcher] = field(default_factory=dict)  # nodes that are taught objects, by name
    detectors: dict[str, Watcher] = field(default_factory=dict)  # nodes that are taught to find objects, by name
    camera: str = ""  # topic of the images that are shown while no such node runs
    images: dict[str, NDArray[np.uint8]] = field(default_factory=dict)  # newest image of each topic, RGB
    health: dict[str, Health] = field(default_factory=dict)  # statuses of /diagnostics by name
    lost: dict[str, int] = field(default_factory=dict)  # number of messages lost in streams, by topic
    doing: str = ""  # words of a program that runs the nodes on what it is doing

    def shown(self, learner: str) -> Robot:
        """Return the robot of a learner, "" for the first one, where all joints are: its own before others'."""
        own = self.robots.get(learner) or next(iter(self.robots.values()), Robot())
        joints = {name: at for one in (self, *self.robots.values(), own) for name, at in one.joints.items()}
        drawn = self if self.urdf else own
        return Robot(drawn.urdf, drawn.urdf_path, joints)
