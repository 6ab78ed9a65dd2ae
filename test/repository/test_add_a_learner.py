"""docs/add_a_learner.md: its code runs as it is written, and its learner keeps the contract."""

import re
from typing import Any

import numpy as np
import pytest

from icub_learning.testing import ContractError, LearnerContract, check_learner


@pytest.fixture(scope="module")
def page(checkout) -> dict[str, Any]:
    """What the Python code of the page defines; running it runs its checks."""
    blocks = re.findall(r"^```python\n(.*?)^```", (checkout / "docs" / "add_a_learner.md").read_text(), re.M | re.S)
    assert len(blocks) == 5
    defined: dict[str, Any] = {"__name__": "add_a_learner"}
    exec("\n".join(blocks), defined)
    return defined


def test_the_example_learns_the_true_weights(page):
    learner = page["NormalizedLMS"](4)
    rng = np.random.default_rng(0)
    for _ in range(300):
        (x,), y = page["sample"](rng)
        learner.update(x, y)
    np.testing.assert_allclose(learner.weights, page["TRUE_WEIGHTS"], atol=0.05)


def test_its_test_class_is_a_contract(page):
    kind = page["TestNormalizedLMS"]
    assert issubclass(kind, LearnerContract)
    kind().check()


def test_the_failure_it_shows_is_the_one_that_comes(page, checkout):
    class NormalizedLMS(page["NormalizedLMS"]):
        def update(self, x, y):
            super().update(np.nan_to_num(x), np.nan_to_num(y))

    with pytest.raises(ContractError) as caught:
        check_learner(lambda: NormalizedLMS(4), page["sample"])
    assert f"```\n{caught.value}\n```" in (checkout / "docs" / "add_a_learner.md").read_text()
