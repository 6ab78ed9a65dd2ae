"""Messages with their times: rates, losses and latencies against numbers found by hand."""

import numpy as np
import pytest

from icub_learning.clients.polling import Series, regularity_of, stream_of, timing_of
from icub_learning.evaluation.metrics import percentiles

SECOND = 10**9  # [ns]


def test_figures_are_those_of_the_times():
    series = Series(2)
    assert (len(series), series.last_stamp) == (0, 0)
    for stamp in (10, 20, 30, 60, 70):  # stamp, publication and arrival [s]
        times = {"source_timestamp": (stamp + 1) * SECOND, "received_timestamp": (stamp + 3) * SECOND}
        series.add(stamp * SECOND, times, np.array([stamp, -stamp], dtype=float))
    assert (len(series), series.last_stamp) == (5, 70 * SECOND)
    states, values = series.arrays()
    np.testing.assert_array_equal(values, np.outer([10, 20, 30, 60, 70], [1, -1]))
    for newest in (2, 9):
        assert [one.tolist() for one in series.arrays(newest)] == [one[-newest:].tolist() for one in (states, values)]
    assert stream_of(states) == pytest.approx({"messages": 5, "rate_hz": 4 / 60, "lost": 2})
    assert stream_of(states[:1]) == {"messages": 1, "rate_hz": 0.0, "lost": 0}
    for name, expected in (("period_s", [10.0, 10.0, 30.0, 10.0]), ("jitter_s", [0.0, 0.0, 20.0, 0.0])):
        assert regularity_of(states)[name] == pytest.approx(percentiles(expected))
    # Stamps 5 and 80 s are of states that were not received here, 35 s of none, and 60 s comes twice.
    made = np.array([[stamp, stamp + 3, stamp + 7] for stamp in (5, 20, 35, 60, 60, 80)]) * SECOND
    assert timing_of(states, made) == {
        "predictions": 4, "rate_hz": 1 / 40, "latency_to_publication_s": percentiles([2.0, 2.0]),
        "latency_to_arrival_s": percentiles([6.0, 6.0]), "joint_states_without_prediction": 1, "predicted_twice": 1,
        "predictions_of_unknown_stamp": 1,
    }  # fmt: skip
