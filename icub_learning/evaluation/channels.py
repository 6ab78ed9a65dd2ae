"""Channels of a recording: a name, stamps and one number per stamp for each measured or derived quantity."""

import contextlib
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.motion.motion_filter import MotionFilter
from icub_learning.errors import RecordingError
from icub_learning.evaluation.motions import smooth
from icub_learning.recording.recording import AXES, Recording

TIMES = ("stamp_ns", "arrival_ns", "time")


@dataclass(frozen=True)
class Channel:
    """A quantity over time: `stamps` (n,) int64 [ns], strictly increasing, and finite `values` (n,)."""

    stamps: np.ndarray
    values: Array


def channels(recording: Recording, path: Path | None = None, stamp_source: str = "header") -> dict[str, Channel]:
    """Return all channels of a recording: position, velocity, effort, acceleration of joints, wrench, other columns.

    Velocities and accelerations that the recording lacks come from a smoother, which uses earlier and later positions,
    and velocities where there are some. Other columns (temperature.<joint>, ...) are those of a .csv or .npz `path`, at
    the times that `stamp_source` names, as for `recording.read`.
    """
    found: dict[str, Channel] = {}

    def add(field: str, names: Sequence[str], stamps: np.ndarray, table: Array) -> None:
        for name, column in zip(names, table.T, strict=True):
            _add(found, f"{field}.{name}", stamps, column)

    joints = recording.joint_names
    fields = {name: getattr(recording, name) for name in ("position", "velocity", "effort", "acceleration")}
    for field, values in fields.items():
        if values is not None:
            add(field, joints, recording.joint_stamps, values)
    if missing := [field for field in ("velocity", "acceleration") if fields[field] is None]:
        reader = JointStateReader(joints, joints, any_order=True)
        motions = smooth(recording.events(), reader, MotionFilter(len(joints)))
        for field in missing if motions else ():
            rows = np.array([getattr(motion, field) for motion in motions.values()])
            add(field, joints, np.fromiter(motions, dtype=np.int64), rows)
    if recording.wrench is not None:
        add("wrench", AXES, recording.wrench_stamps, recording.wrench)
    for name, (stamps, column) in _other_columns(path, stamp_source).items():
        if name not in found:
            _add(found, name, stamps, column)
    return found


def align(found: Mapping[str, Channel], output: str, inputs: Sequence[str]) -> tuple[Array, Array, tuple[str, ...]]:
    """Return inputs (n, d), interpolated at the stamps of the output, the output (n,), and the names of the inputs.

    `inputs` are patterns such as "position.*"; without any, all channels but those of the output's own kind are taken.
    Raises RecordingError: there is no such channel, a pattern fits none, or the channels do not overlap in time.
    """
    known = f"there are {', '.join(sorted(found))}"
    if output not in found:
        raise RecordingError(f"there is no channel {output!r}; {known}", name="output", value=output)
    fitting = {pattern: [name for name in found if fnmatchcase(name, pattern) and name != output] for pattern in inputs}
    for pattern, some in fitting.items():
        if not some:
            raise RecordingError(f"no channel fits {pattern!r}; {known}", name="inputs", value=pattern)
    names = list(dict.fromkeys(name for some in fitting.values() for name in some))
    if not inputs:
        kind = output.split(".")[0] + "."
        names = [name for name in found if name != output and not (name.startswith(kind) and "." in output)]
    if not names:
        raise RecordingError(f"nothing is left to explain {output}", name="inputs", bound="at least one channel")
    stamps = found[output].stamps
    start, stop = (pick(found[name].stamps[end] for name in names) for pick, end in ((max, 0), (min, -1)))
    inside = (stamps >= start) & (stamps <= stop)
    if not inside.any():
        raise RecordingError("the channels were never recorded at the same time", name="inputs", bound="one time")
    seconds = (stamps[inside] - start) * 1e-9
    columns = [np.interp(seconds, (found[name].stamps - start) * 1e-9, found[name].values) for name in names]
    return np.column_stack(columns), found[output].values[inside], tuple(names)


def _add(found: dict[str, Channel], name: str, stamps: np.ndarray, values: Array) -> None:
    """Add a channel of the finite values, sorted by stamp and without repeated stamps; it may be empty."""
    good = np.isfinite(values)
    stamps, places = np.unique(stamps[good], return_index=True)
    found[name] = Channel(stamps, np.ascontiguousarray(values[good][places], dtype=np.float64))


def _other_columns(path: Path | None, stamp_source: str) -> dict[str, tuple[np.ndarray, Array]]:
    """Return stamps and values of the numeric columns that `recording.read` ignores; the file is known to be valid."""
    if path is None or path.suffix not in (".csv", ".npz") or not path.is_file():
        return {}
    table: dict[str, np.ndarray] = {}
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as archive:
            table = {name: archive[name] for name in archive.files}
    else:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = filter(None, csv.reader(file))
        for name, cells in zip(map(str.strip, header), zip(*rows, strict=False), strict=False):
            read = int if name.endswith("_ns") else float
            with contextlib.suppress(ValueError):  # a column of text
                table[name] = np.array([read(cell) if cell.strip() else np.nan for cell in cells])
    if not table:
        return {}
    times = "arrival_ns" if stamp_source == "arrival" and "arrival_ns" in table else "stamp_ns"
    stamps = table[times] if times in table else np.rint(table["time"] * 1e9).astype(np.int64)
    return {
        name: (stamps, values)
        for name, values in table.items()
        if name not in TIMES and not name.startswith("wrench.") and values.shape == stamps.shape
        and values.dtype.kind in "iuf"
    }  # fmt: skip
