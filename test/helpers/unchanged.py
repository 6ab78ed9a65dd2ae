"""A check that a refused change leaves a model as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from icub_learning.testing import same_arrays


@contextmanager
def unchanged(model: Any) -> Iterator[None]:
    """Assert that the state of a model after the block is the same as before it."""
    before = model.state()
    yield
    assert same_arrays(before, model.state())
