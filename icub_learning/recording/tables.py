"""Recordings as tables: CSV, one row per message, and NPZ, one array per column; names: docs/recordings.md."""

import csv
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from icub_learning.errors import RecordingError, StateError
from icub_learning.models import load_state
from icub_learning.recording.recording import AXES, FIELDS, NANOSECONDS, NO_NUMBERS, JointStateEvent, Recording

WRENCH_COLUMNS = tuple(f"wrench.{axis}" for axis in AXES)
LARGEST_FILE = 2**36  # [bytes] largest NPZ archive; it is read into memory as a whole
SEPARATORS = {";": "semicolons", "\t": "tabs", " ": "spaces"}  # of tables that are not read


class _Columns:
    """Meaning of the columns of a table, from their names. Raises RecordingError: something is missing."""

    def __init__(self, path: Path, names: list[str]) -> None:
        def refuse(problem: str, bound: str) -> RecordingError:
            text = f"{path}: {problem}; see docs/recordings.md"
            return RecordingError(text, name=str(path), value=names, bound=bound)

        if repeated := {name for name in names if names.count(name) > 1}:
            raise refuse(f"column {min(repeated)!r} appears more than once", "different names")
        self.joint_names = tuple(name.removeprefix("position.") for name in names if name.startswith("position."))
        self.stamp = "stamp_ns" if "stamp_ns" in names else "time"
        if not names:
            raise refuse("it is empty: it names no columns", "stamp_ns or time, position.<joint>")
        if not self.joint_names or self.stamp not in names:
            separators = [what for mark, what in SEPARATORS.items() if mark in names[0] and len(names) == 1]
            problem, bound = "no column stamp_ns [ns] or time [s]", "stamp_ns or time"
            if names[0].startswith("#"):
                problem = f"the first line begins with a comment, {names[0]!r}, but must name the columns alone"
            elif separators:
                problem = f"columns are separated by {separators[0]}, but must be by commas, with decimal points"
            elif not self.joint_names:
                problem, bound = f"no column position.<joint> among {', '.join(names[:8])}", "position.<joint>"
            raise refuse(problem, bound)
        self.fields: dict[str, list[str]] = {}
        for field in FIELDS:
            wanted = [f"{field}.{joint}" for joint in self.joint_names]
            if (present := [name for name in names if name.startswith(f"{field}.")]) and set(present) != set(wanted):
                odd = min(set(present) ^ set(wanted))
                lacking = odd if odd in wanted else odd.replace(field, "position", 1)
                raise refuse(f"no column {lacking}: all joints have a position, and all or none have {field}", field)
            if present:
                self.fields[field] = wanted
        if (found := [name for name in WRENCH_COLUMNS if name in names]) and len(found) < 6:
            missing = next(name for name in WRENCH_COLUMNS if name not in names)
            raise refuse(f"the wrench lacks {missing}", ", ".join(WRENCH_COLUMNS))
        self.has_wrench = bool(found)


def _plausible_arrivals(stamps: np.ndarray) -> np.ndarray:
    """Return arrivals for rows without arrival_ns: the stamps of as many rows as possible that are in order, and times
    between these for the others. Thus the rows keep their order, and bad stamps reach the stream that refuses them."""
    if np.all(np.diff(stamps) >= 0):
        return stamps
    last, rows_of_last, before = list[int](), list[int](), list[int]()  # of the best sequence of each length
    for row, stamp in enumerate(stamps.tolist()):
        length = bisect_right(last, stamp)
        before.append(rows_of_last[length - 1] if length else -1)
        last[length : length + 1], rows_of_last[length : length + 1] = [stamp], [row]
    kept = rows_of_last[-1:]
    while before[kept[-1]] >= 0:
        kept.append(before[kept[-1]])
    rows, first = kept[::-1], stamps[kept[-1]]
    return np.asarray(np.interp(np.arange(len(stamps)), rows, stamps[rows] - first).astype(np.int64) + first)


def read_csv(path: Path, progress: bool) -> Recording:
    """Read a CSV file; a blank cell means that the message of its row did not carry that number. Raises RecordingError:
    the file is no such table; the message names the line."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file)
            header = [name.strip() for name in next(rows, [])]
            shown = tqdm(rows, "reading", disable=not progress, delay=1)
            return _collect_rows(path, _Columns(path, header), header, shown)
    except (UnicodeDecodeError, csv.Error) as error:
        text = f"{path} is not a CSV text file ({error})"
        raise RecordingError(text, name=str(path), bound="CSV in UTF-8") from error


def _collect_rows(path: Path, columns: _Columns, header: list[str], rows: Any) -> Recording:
    place = {name: index for index, name in enumerate(header)}
    joint_places = {field: [place[name] for name in names] for field, names in columns.fields.items()}
    flat_places = [index for places in joint_places.values() for index in places]
    wrench_places = [place[name] for name in WRENCH_COLUMNS] if columns.has_wrench else []
    stamp_place, arrival_place = place[columns.stamp], place.get("arrival_ns")
    stamps, arrivals = array("q"), array("q")
    joint_rows, joint_numbers = array("q"), array("d")
    wrench_rows, wrench_numbers = array("q"), array("d")
    irregular: dict[int, JointStateEvent] = {}

    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            why = "remove this comment" if row[0].startswith("#") else "is the file cut off?"
            text = f"{path}, line {line}: {len(row)} cells, but the header names {len(header)}; {why}"
            raise RecordingError(text, name=str(path), value=len(row), bound=f"{len(header)} cells")
        try:
            number = len(stamps)
            stamps.append(_nanoseconds_of(columns.stamp, row[stamp_place]))
            if arrival_place is not None:
                arrivals.append(_nanoseconds_of("arrival_ns", row[arrival_place]))
            joint_cells = [row[index] for index in flat_places]
            wrench_cells = [row[index] for index in wrench_places]
            if all(joint_cells):
                joint_numbers.extend(map(float, joint_cells))
                joint_rows.append(number)
            elif any(joint_cells):
                irregular[number] = _irregular(columns, joint_places, row)
            if any(wrench_cells):
                wrench_numbers.extend(map(float, wrench_cells))
                wrench_rows.append(number)
        except ValueError as error:
            text = f"{path}, line {line}: {error}"
            raise RecordingError(text, name=str(path), value=str(error), bound="numbers") from None

    table = np.array(joint_numbers).reshape(len(joint_rows), len(columns.fields), len(columns.joint_names))
    fields: dict[str, Any] = {field: table[:, index] for index, field in enumerate(columns.fields)}
    stamp = np.array(stamps, dtype=np.int64)
    arrival = _plausible_arrivals(stamp) if arrival_place is None else np.array(arrivals, dtype=np.int64)
    others = (event._replace(arrival=int(arrival[row]), stamp=int(stamp[row])) for row, event in irregular.items())
    return Recording(
        columns.joint_names, joint_stamps=stamp[joint_rows], joint_arrivals=arrival[joint_rows], **fields,
        wrench_stamps=stamp[wrench_rows], wrench_arrivals=arrival[wrench_rows],
        wrench=np.array(wrench_numbers).reshape(-1, 6) if columns.has_wrench else None, irregular=tuple(others),
    )  # fmt: skip


def _nanoseconds_of(name: str, cell: str) -> int:
    try:
        return array("q", [round(float(cell) * NANOSECONDS) if name == "time" else int(cell)])[0]
    except (ValueError, OverflowError):  # also of a number beyond int64
        unit = "seconds" if name == "time" else "whole nanoseconds"
        raise ValueError(f"{name} is {cell!r}, but must be a number of {unit} within 292 years of 0") from None


def _irregular(columns: _Columns, places: Mapping[str, list[int]], row: list[str]) -> JointStateEvent:
    """Return a row with blank joint cells as a message with fewer joints or fields; its times are set later."""
    named = [joint for joint, index in enumerate(places["position"]) if row[index]]
    numbers = {
        field: np.array([float(row[indices[joint]]) for joint in named if row[indices[joint]]])
        for field, indices in places.items()
    }
    names = tuple(columns.joint_names[joint] for joint in named)
    velocity, effort = numbers.get("velocity", NO_NUMBERS), numbers.get("effort", NO_NUMBERS)
    return JointStateEvent(0, 0, names, numbers["position"], velocity, effort)


def read_npz(path: Path) -> Recording:
    """Read an NPZ archive with a 1-D array per column. Raises RecordingError: no archive, or an array is too short."""
    try:
        table = load_state(path, LARGEST_FILE)
    except StateError as error:
        reason = error.__cause__ or error  # without the words for models
        text = f"{path} is not an NPZ archive of plain arrays ({reason}); write columns of numbers with numpy.savez"
        raise RecordingError(text, name=str(path), value=str(error), bound="an NPZ archive") from error
    columns = _Columns(path, [name for name in table if not name.startswith("wrench.") or name in WRENCH_COLUMNS])
    stamps, arrivals = _times_of(path, table, "")
    fields: dict[str, Any] = {field: _stack(path, table, names, len(stamps)) for field, names in columns.fields.items()}
    if columns.has_wrench:
        prefix = "wrench." if "wrench.stamp_ns" in table or "wrench.time" in table else ""
        fields["wrench_stamps"], fields["wrench_arrivals"] = _times_of(path, table, prefix)
        fields["wrench"] = _stack(path, table, WRENCH_COLUMNS, len(fields["wrench_stamps"]))
    frame = str(table.get("wrench.frame", ""))
    return Recording(columns.joint_names, stamps, joint_arrivals=arrivals, **fields, wrench_frame=frame)


def _number_column(path: Path, table: Mapping[str, np.ndarray], name: str, size: int | None = None) -> np.ndarray:
    column = table[name]
    wanted = (len(column) if column.ndim else 0,) if size is None else (size,)
    if column.shape != wanted or column.dtype.kind not in "iuf":
        bound = f"numbers of shape {wanted}"
        text = f"{path}: {name} holds {column.dtype} of shape {column.shape}, but must hold {bound}"
        raise RecordingError(text, name=name, value=column.shape, bound=bound)
    return column


def _stack(path: Path, table: Mapping[str, np.ndarray], names: Sequence[str], size: int) -> np.ndarray:
    columns = [_number_column(path, table, name, size) for name in names]
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)


def _times_of(path: Path, table: Mapping[str, np.ndarray], prefix: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the stamps and the arrivals, each (n,) int64 [ns]."""
    name, arrival = f"{prefix}stamp_ns", f"{prefix}arrival_ns"
    if name in table:
        stamps = _nanoseconds(path, table, name)
    else:
        name = f"{prefix}time"
        seconds = _number_column(path, table, name).astype(np.float64)
        if not np.all(np.abs(seconds) < 9e9):  # int64 nanoseconds end after 292 years
            raise RecordingError(f"{path}: {name} holds a value that is no time [s]", name=name, bound="[s]")
        stamps = np.rint(seconds * NANOSECONDS).astype(np.int64)
    return stamps, _nanoseconds(path, table, arrival, len(stamps)) if arrival in table else _plausible_arrivals(stamps)


def _nanoseconds(path: Path, table: Mapping[str, np.ndarray], name: str, size: int | None = None) -> np.ndarray:
    column = _number_column(path, table, name, size)
    if column.dtype.kind == "f" or (column > np.iinfo(np.int64).max).any():
        text = f"{path}: {name} holds {column.max(initial=0)} ({column.dtype}), but must hold whole nanoseconds, int64"
        raise RecordingError(text, name=name, bound="int64")
    return column.astype(np.int64)


def _joint_columns(recording: Recording) -> dict[str, np.ndarray]:
    names = recording.joint_names
    if repeated := {name for name in names if names.count(name) > 1}:
        text = f"joint {min(repeated)!r} is named twice"
        raise RecordingError(text, name="joint_names", value=names, bound="different names")
    given = ((field, values) for field in FIELDS if (values := getattr(recording, field)) is not None)
    return {f"{field}.{joint}": values[:, index] for field, values in given for index, joint in enumerate(names)}


def write_npz(recording: Recording, path: Path) -> None:
    """Write one array per column; wrenches have stamps of their own."""
    table = {"stamp_ns": recording.joint_stamps, "arrival_ns": recording.joint_arrivals, **_joint_columns(recording)}
    if recording.wrench is not None:
        table |= {"wrench.stamp_ns": recording.wrench_stamps, "wrench.arrival_ns": recording.wrench_arrivals}
        table |= dict(zip(WRENCH_COLUMNS, recording.wrench.T, strict=True))
        table["wrench.frame"] = np.array(recording.wrench_frame)
    with path.open("wb") as file:  # savez would append .npz to another name
        np.savez_compressed(file, **table)  # type: ignore[arg-type]


def write_csv(recording: Recording, path: Path) -> None:
    """Write one row per message in order of arrival; numbers read back exactly."""
    joints = _joint_columns(recording)
    wrench_columns = WRENCH_COLUMNS if recording.wrench is not None else ()
    table = np.column_stack([np.empty((len(recording.joint_stamps), 0)), *joints.values()])
    messages = zip(recording.joint_stamps.tolist(), recording.joint_arrivals.tolist(), table.tolist(), strict=True)
    rows = [[stamp, arrival, *cells, *[""] * len(wrench_columns)] for stamp, arrival, cells in messages]
    if recording.wrench is not None:
        times = recording.wrench_stamps.tolist(), recording.wrench_arrivals.tolist()
        messages = zip(*times, recording.wrench.tolist(), strict=True)
        rows += [[stamp, arrival, *[""] * len(joints), *cells] for stamp, arrival, cells in messages]
    rows.sort(key=lambda row: row[1])
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["stamp_ns", "arrival_ns", *joints, *wrench_columns])
        writer.writerows(rows)
