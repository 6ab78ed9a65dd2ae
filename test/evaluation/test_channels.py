"""Columns of a file that no message has are channels too, and what explains nothing is refused."""

import numpy as np
import pytest

from icub_learning.errors import RecordingError
from icub_learning.evaluation.channels import Channel, align, channels
from icub_learning.recording import read

OF_JOINTS = {f"{name}.a": [0.5, 0.75, 0.25] for name in ("position", "velocity", "acceleration")}
OTHERS = {"count": [7.0, 8.0, 9.0], "warmth.a": [20.0, np.nan, 22.0]}


def test_other_columns_of_numbers_are_channels_and_what_explains_nothing_is_refused(tmp_path):
    times = {"time": [1e-9, 3e-9, 2e-9], "arrival_ns": [4, 5, 6]}
    np.savez(path := tmp_path / "run.npz", **OF_JOINTS, **OTHERS, **times, note=list("abc"), pair=[1.0, 2.0])
    found = channels(read(path), path)
    assert (set(found), set(channels(read(path)))) == ({*OF_JOINTS, *OTHERS}, {*OF_JOINTS})
    told = {name: (found[name].stamps.tolist(), found[name].values.tolist()) for name in OTHERS}
    assert told == {"count": ([1, 2, 3], [7, 9, 8]), "warmth.a": ([1, 2], [20, 22])}  # in the order of the stamps
    by_arrival = channels(read(path, stamp_source="arrival"), path, "arrival")
    assert by_arrival["count"].stamps.tolist() == by_arrival["position.a"].stamps.tolist() == [4, 5, 6]
    found["early"], found["late"] = (Channel(found["count"].stamps + n, found["count"].values) for n in (2, 9))
    x, y, names = align(found, "count", ["early"])
    assert (x.tolist(), y.tolist(), names) == ([[7.0]], [8.0], ("early",))  # one instant that both have is enough
    for some, output, inputs, text in (
        (found, "nose", [], "no channel 'nose'; there are acceleration.a, count, "),
        (found, "count", ["late", "no*"], "no channel fits 'no.'; there are acceleration.a, count, "),
        (found, "late", ["count"], "never recorded at"), ({"late": y}, "late", [], "nothing is left"),
    ):  # fmt: skip
        with pytest.raises(RecordingError, match=text):
            align(some, output, inputs)
