"""A check that a refused change leaves a model as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from icub_learning.testing import assert_same


@contextmanager
def unchanged(model: Any) -> Iterator[None]:
    """Assert that the state of a model after the block is the same as before it."""
    before = model.state()
    yield
    assert_same(model.state(), before, "what was known before")
