"""Settings and inputs that feature maps refuse, by an error that names the argument where it has a name."""

import numpy as np
import pytest

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError
from icub_learning.features import MultiscaleFourierFeatures, NystromFeatures, RandomFourierFeatures

NAN, INF = np.nan, np.inf
SCALES, LENGTHS = np.array([1.0, 0.5, 4.0]), (0.7, 2.0, 6.0)
SETTINGS = {
    MultiscaleFourierFeatures: {
        ParameterError: [(np.array([1.0, 0.0, 1.0]), 8, LENGTHS), (SCALES, 7, LENGTHS), (SCALES, 0, LENGTHS),
                         (SCALES, 8, (1.0, 0.0)), (SCALES, 8, LENGTHS, -1)],
        NotFiniteError: [(np.array([1.0, NAN, 1.0]), 8, LENGTHS)]},
    NystromFeatures: {
        ShapeError: [(np.zeros((0, 2)), 1.0), (np.zeros(3), 1.0), (np.zeros((2, 0)), 1.0)],
        NotFiniteError: [([[0.0, NAN]], 1.0)],
        ParameterError: [(np.zeros((2, 2)), 0.0), (np.zeros((2, 2)), NAN)]},
}  # fmt: skip
BY_NAME = [("n_inputs", 0), ("n_inputs", 1.5), ("n_features", 7), ("n_features", 0), ("n_features", 10.0), ("seed", -1)]
BY_NAME += [("seed", None), *(("length_scale", value) for value in (0.0, -1.0, NAN, INF))]
INPUTS = {
    MultiscaleFourierFeatures(SCALES, 8, LENGTHS).waves: {
        NotFiniteError: [np.array([0.0, NAN, 0.0]), np.array([0.0, INF, 0.0])], ParameterError: [np.full(3, 1e308)]},
    NystromFeatures(np.eye(2)).transform: {NotFiniteError: [[1.0, NAN]], ShapeError: [[1.0], 1.0]},
    RandomFourierFeatures(2, 4).transform: {
        NotFiniteError: [[1.0, NAN], [INF, 0.0]], ShapeError: [[1.0], np.zeros((2, 3)), 1.0]},
    RandomFourierFeatures(2, 4, 1e-300).transform: {ParameterError: [[1e300, 1e300]]},
}  # fmt: skip


def cases(table):
    return [(called, error, one) for called, errors in table.items() for error, some in errors.items() for one in some]


@pytest.mark.parametrize(("kind", "error", "arguments"), cases(SETTINGS))
def test_settings(kind, error, arguments):
    with pytest.raises(error):
        kind(*arguments)


@pytest.mark.parametrize(("name", "value"), BY_NAME)
def test_settings_by_name(name, value):
    with pytest.raises(ParameterError) as caught:
        RandomFourierFeatures(**{"n_inputs": 2, "n_features": 4, name: value})
    assert caught.value.name == name


@pytest.mark.parametrize(("apply", "error", "x"), cases(INPUTS))
def test_inputs(apply, error, x):
    with pytest.raises(error, match=r"x|phase"):
        apply(x)
