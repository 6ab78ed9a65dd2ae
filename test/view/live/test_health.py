"""What is read from /diagnostics."""

from types import SimpleNamespace

import numpy as np
import pytest

from icub_learning.nodes.inverse_dynamics.report import weights_in_words
from icub_learning.view.live.health import weights_of


def test_weights_are_those_that_the_node_put_into_words():
    weights = {"P": [0.125, 0.5], "NP 1": [0.25, 0.25], "NP 5": [0.125, 0.0], "SP 1": [0.5, 0.25]}
    estimator = SimpleNamespace(expert_weights={name: np.array(row) for name, row in weights.items()})
    found = weights_of(weights_in_words(("force.x", "elbow joint"), estimator))
    assert list(found) == ["force.x", "elbow joint"]
    assert found["elbow joint"] == pytest.approx({"P": 0.5, "NP": 0.25, "SP": 0.25}, abs=0.006)
    assert weights_of("") == {} and weights_of("nonsense: here; none") == {}
