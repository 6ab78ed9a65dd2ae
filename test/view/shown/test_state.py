"""Windows of curves and errors over minutes, against plain NumPy."""

import numpy as np
import pytest

from icub_learning.errors import ModelError
from icub_learning.view.shown.state import ERROR_SPAN, Curves, ErrorCurve, State

STEP = 50_000_000  # [ns]


def filled(n, capacity=100):
    rows, curves = np.random.default_rng(0).normal(size=(n, 3, 2)), Curves(2, capacity)
    for k, row in enumerate(rows):
        curves.add((k + 10) * STEP, *row, np.array([4.0, 9.0]))
    return curves, rows


def test_the_newest_points_and_errors_are_kept_and_errors_over_hours_need_no_more_room():
    curves, rows = filled(250)
    assert len(curves) == 100
    np.testing.assert_allclose([curves.measured, curves.external], [rows[-100:, 0], rows[-100:, 0] - rows[-100:, 1]])
    np.testing.assert_allclose(curves.seconds, np.arange(150, 250) * 0.05)
    np.testing.assert_allclose(curves.deviation[0], [2.0, 3.0])
    (curves, rows), n = filled(90), round(ERROR_SPAN / 0.05)
    for part, column in (("predicted", 1), ("parametric", 2)):
        wrong = (rows[-n:, 0] - rows[-n:, column])[:, 1:]
        assert curves.rmse(slice(1, 2), part) == pytest.approx(np.sqrt(np.mean(wrong**2)), rel=1e-6)
    assert np.isnan(Curves(2).rmse(slice(0, 2)))
    curves.add(5 * STEP, *np.zeros((4, 2)))  # time was set back: they start anew
    assert len(curves) == 1 and curves.seconds[0] == 0.0
    errors = ErrorCurve(capacity=60)
    for second in range(5000):
        errors.add(float(second), [1.0, 2.0])
    assert len(errors.seconds) <= 61 and errors.seconds[0] == 0.0 and errors.seconds[-1] > 4800
    assert np.all(np.diff(errors.seconds) > 0)
    errors.add(3.0, [1.0, 2.0])
    assert errors.seconds == [3.0]


@pytest.mark.parametrize("content", ["<robot name='\xe4'/>".encode("latin-1"), b"<robot", b""])
def test_a_urdf_that_cannot_be_read_is_refused_and_changes_nothing(tmp_path, content):
    (tmp_path / "bad.urdf").write_bytes(content)
    state = State()
    state.set_urdf("\ufeff<robot name='r'/>")
    with pytest.raises(ModelError, match=r"bad\.urdf"):
        state.set_urdf(str(tmp_path / "bad.urdf"))
    assert (state.urdf, state.urdf_path) == ("\ufeff<robot name='r'/>", "")
