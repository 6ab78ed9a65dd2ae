"""Accumulation of messages into a recording, storing only their numeric data."""

from array import array
from collections import Counter
from itertools import chain
from typing import Any

import numpy as np

from icub_learning.recording.recording import JointStateEvent, Recording, WrenchEvent

Layout = tuple[tuple[str, ...], bool, bool]  # names, whether there are velocities, whether there are efforts


class Collector:
    """Accumulates joint states and wrenches in the order of arrival; `recording` returns them as a Recording."""

    def __init__(self) -> None:
        self.n_joint_states = 0
        self._layouts: dict[Layout, tuple[array[int], array[float]]] = {}
        self._malformed: list[JointStateEvent] = []
        self._wrench_times, self._wrenches = array("q"), array("d")
        self._wrench_frames = Counter[str]()

    @property
    def n_wrenches(self) -> int:
        """Number of wrenches added."""
        return len(self._wrench_times) // 2

    def add_joint_state(self, event: JointStateEvent) -> None:
        """Add one joint state, whether its arrays fit its names or not, and whether these are all different or not."""
        self.n_joint_states += 1
        n, sizes = len(event.names), {len(values) for values in (event.velocity, event.effort)} - {0}
        if len(event.position) != n or not sizes <= {n} or not n or len({*event.names}) < n:
            self._malformed.append(event)
            return
        layout = (event.names, len(event.velocity) > 0, len(event.effort) > 0)
        times, numbers = self._layouts.setdefault(layout, (array("q"), array("d")))
        times.extend((event.arrival, event.stamp))
        for values in (event.position, event.velocity, event.effort):
            numbers.frombytes(values.tobytes())

    def add_wrench(self, event: WrenchEvent, frame: str) -> None:
        """Add one wrench; `frame` is the frame_id of its message."""
        self._wrench_times.extend((event.arrival, event.stamp))
        self._wrenches.frombytes(event.values.tobytes())
        self._wrench_frames[frame] += 1

    def recording(self, with_wrench: bool) -> Recording:
        """Return everything added so far; `wrench` is None unless `with_wrench`, and empty if none was added.

        Its arrays hold the layout of joint states with the most positions in all, `irregular` all others.
        """
        layouts = {layout: self._columns(layout) for layout in self._layouts}
        main = max(layouts, key=lambda layout: layouts[layout]["position"].size, default=((), False, False))
        regular = layouts.pop(main, {"joint_names": (), "joint_stamps": (), "position": np.empty((0, 0))})
        events = chain.from_iterable(Recording(**columns).events() for columns in layouts.values())
        times = np.array(self._wrench_times, dtype=np.int64).reshape(-1, 2)
        frame, *others = [name for name, _ in self._wrench_frames.most_common()] or [""]
        return Recording(
            **regular, wrench_stamps=times[:, 1], wrench_arrivals=times[:, 0],
            wrench=np.array(self._wrenches).reshape(-1, 6) if with_wrench else None, wrench_frame=frame,
            irregular=(*self._malformed, *(event for event in events if isinstance(event, JointStateEvent))),
            mixed_frames=(frame, *others) if others else (),
        )  # fmt: skip

    def _columns(self, layout: Layout) -> dict[str, Any]:
        names, has_velocity, has_effort = layout
        times, numbers = (np.array(buffer, dtype=buffer.typecode) for buffer in self._layouts[layout])
        table = numbers.reshape(len(times) // 2, 1 + has_velocity + has_effort, len(names))
        return {
            "joint_names": names, "joint_arrivals": times[::2], "joint_stamps": times[1::2], "position": table[:, 0],
            "velocity": table[:, 1] if has_velocity else None, "effort": table[:, -1] if has_effort else None,
        }  # fmt: skip
