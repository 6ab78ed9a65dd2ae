"""A declared state: what is saved comes back, and what does not fit is refused by name."""

import numpy as np
import pytest

from icub_learning.errors import StateError
from icub_learning.models.declared import ANY, NOT_NEGATIVE, POSITIVE, VARIANCE, Declared, entries


class Some(Declared):
    STATE = entries(value=VARIANCE, mean=ANY, count=NOT_NEGATIVE, factor=POSITIVE)

    def __init__(self, n, count=0, factor=1.0):
        self.value, self._mean, self._count, self._factor = np.full(n, np.inf), np.zeros((n, 2)), count, factor

    def hidden(self):
        return self._mean, self._count, self._factor


def test_what_is_saved_comes_back_as_it_was():
    one = Some(3, 7, 0.5)
    one.value[::2], one.hidden()[0][:] = (1.0, 0.0), np.arange(6.0).reshape(3, 2)
    state = one.state()
    assert set(state) == {"value", "mean", "count", "factor"}
    again = Some.from_state(state | {"factor": [0.5]}, 3)  # an array of one number is a number
    one.value[0] = one.hidden()[0][0] = 9.0  # neither the state nor the restored object follows
    mean, count, factor = again.hidden()
    assert again.value.tolist() == [1.0, np.inf, 0.0] and mean.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (count, factor) == (7, 0.5) and type(count) is int


@pytest.mark.parametrize(("name", "value", "text"), [
    ("value", [1.0, -1.0, 0.0], "numbers of at least 0"), ("value", [1.0, np.nan, 0.0], "value"),
    ("value", [1.0, 0.0], r"of shape \(3,\)"), ("mean", np.full((3, 2), np.inf), "must be finite numbers, of"),
    ("mean", np.zeros(6), r"of shape \(3, 2\)"), ("count", -1, "count -1"), ("factor", 0.0, "above 0"),
    ("factor", "some", "Some"), ("factor", None, "factor"), ("count", [1.0, 2.0], r"count \[1. 2.\] must be"),
    ("mean", np.full((3, 2), -np.inf), "must be finite"),
    ("value", np.zeros(19), r"value \[0"), *(("value", np.zeros(n), "value of shape") for n in (20, 21)),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(name, value, text):
    with pytest.raises(StateError, match=text):
        Some.from_state(Some(3).state() | {name: value}, 3)
    with pytest.raises(StateError, match=name):
        Some.from_state({key: entry for key, entry in Some(3).state().items() if key != name}, 3)
