"""The compiled loops of a joint process refuse what does not fit, before they read or write anything beyond it."""

import numpy as np
import pytest
from helpers.robots import ICUB, RIGHT_ARM, random_state
from helpers.versions import every_version

from icub_learning.dynamics import WrenchRegressor
from icub_learning.dynamics.joint import _experts, _joint
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.recursive import RecursiveLeastSquares

T, D = 6, 12
REGRESSOR = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor")
COLUMNS = BaseColumns(REGRESSOR, np.ones(REGRESSOR.n_parameters), np.zeros(REGRESSOR.n_parameters))
P, ENTRIES = len(COLUMNS.kept), len(COLUMNS.entries)

version = every_version(_experts, _joint)


def arguments():
    rows = REGRESSOR(*random_state(REGRESSOR.n_joints, 0))
    features = RecursiveLeastSquares(D, T + ENTRIES, forgetting=0.9)
    rigid = RecursiveLeastSquares(P, 1, forgetting=0.9)
    bodies = [RecursiveLeastSquares(P, 1, forgetting=0.5) for _ in range(2)]
    maps, places = np.zeros((2, T, D)), np.arange(0, D, 2)
    few = RecursiveLeastSquares(len(places), T, forgetting=0.9)
    return {
        "learn": [
            features.ahead(), rigid.ahead(), COLUMNS.memory, np.empty(T), maps.copy(), np.ones(D), COLUMNS.of(rows),
            np.ones(T), np.ones(T), 1.0,
        ],
        "learn_recent": [
            np.empty((2, T)), few.ahead(), (places,), tuple(body.ahead() for body in bodies), COLUMNS.memory,
            np.ones(D), COLUMNS.of(rows), np.ones(T), np.ones((2, T)), 2.0, 1.0,
        ],
        "unlearned": [
            np.empty((3, T)), np.ones(D), COLUMNS.of(rows), np.ones((ENTRIES, D)), COLUMNS.memory,
            tuple((each.memory[0], np.ones(T), np.ones(T)) for each in (rigid, *bodies)),
        ],
        "parameters": [np.empty((2, rows.shape[1])), COLUMNS.start, COLUMNS.back, (np.ones(P), np.zeros(P))],
        "rows": [np.empty((T, P)), np.empty(T), np.zeros((1, T + ENTRIES)), COLUMNS.memory, np.ones(T)],
        "maps": [maps, np.empty(P), features.padded_weights, COLUMNS.memory, np.zeros(P)],
        "predict": [
            np.empty((6, T)), np.empty(D), np.ones(D), np.zeros(T), maps, (places, maps[0, :, ::2].copy()), 2.0, rows,
            np.ones((4, rows.shape[1])),
        ],
    }  # fmt: skip


def spoiled(value):
    """What is near a valid argument and is none."""
    if isinstance(value, tuple):
        for place, entry in enumerate(value):
            for other in spoiled(entry):
                yield (*value[:place], other, *value[place + 1 :])
        yield value[:-1]
        yield list(value)
    elif isinstance(value, np.ndarray):
        yield value.ravel()[:-1].copy()
        yield np.concatenate([value.ravel(), value.ravel()])
        yield value.astype(np.float32 if value.dtype.kind == "f" else np.int32)
        if value.dtype.kind == "i":
            yield value + 10**6
            yield value - 10**6
    elif isinstance(value, int):
        yield -1
    yield "nothing of the kind"


@pytest.mark.parametrize("name", arguments())
def test_what_does_not_fit_is_refused(name, version):
    function = getattr(_joint if hasattr(_joint, name) else _experts, name)
    assert function(*arguments()[name]) is None
    for place, value in enumerate(arguments()[name]):
        for other in spoiled(value):
            given = arguments()[name]
            given[place] = other
            with pytest.raises((ValueError, IndexError, TypeError)):
                function(*given)
                pytest.fail(f"argument {place} was taken: {other!r:.200}")
    with pytest.raises(TypeError):
        function(*arguments()[name][:-1])
