"""The compiled loops of a joint process refuse arrays that do not fit before they read or write out of bounds."""

import numpy as np
import pytest
from helpers.robots import ICUB, RIGHT_ARM, random_state
from helpers.spoiled_arguments import assert_refused
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
    few = [RecursiveLeastSquares(len(places), T, forgetting=forgetting) for forgetting in (0.9, 1.0)]
    return {
        "learn": [
            features.ahead(), rigid.ahead(), COLUMNS.memory, np.empty(T), maps.copy(), np.ones(D), COLUMNS.of(rows),
            np.ones(T), np.ones(T), 1.0],
        "learn_recent": [
            np.empty((4, T)), tuple(one.ahead() for one in few), (places,), tuple(body.ahead() for body in bodies),
            COLUMNS.memory, np.ones(D), COLUMNS.of(rows), np.ones(T), np.ones((2, T)), 2.0, 1.0],
        "unlearned": [
            np.empty((3, T)), np.ones(D), COLUMNS.of(rows), np.ones((ENTRIES, D)), COLUMNS.memory,
            tuple((each.memory[0], np.ones(T), np.ones(T)) for each in (rigid, *bodies))],
        "parameters": [np.empty((2, rows.shape[1])), COLUMNS.start, COLUMNS.back, (np.ones(P), np.zeros(P))],
        "rows": [np.empty((T, P)), np.empty(T), np.zeros((1, T + ENTRIES)), COLUMNS.memory, np.ones(T)],
        "maps": [maps, features.padded_weights, COLUMNS.memory, np.zeros(P)],
        "predict": [
            np.empty((7, T)), np.empty(D), np.ones(D), np.zeros(T), maps, (places, maps[:, :, ::2].copy()), 2.0, rows,
            np.ones((4, rows.shape[1]))],
        "combine": [np.empty((2, T)), np.ones((2, 3, T)), np.ones((3, T)), np.ones((3, T)), np.ones(T), 3],
    }  # fmt: skip


@pytest.mark.parametrize("name", arguments())
def test_what_does_not_fit_is_refused(name, version):
    assert_refused(getattr(_joint if hasattr(_joint, name) else _experts, name), arguments()[name], exact=True)
    with pytest.raises(ValueError, match="do not fit"):  # a mean over no experts
        _experts.combine(np.empty((2, T)), *np.empty((3, 0, T)), np.ones(T), 0)
