"""What a refused change must leave as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from icub_learning.testing import same_arrays


@contextmanager
def unchanged(model: Any) -> Iterator[None]:
    """The state of a model, before and after what is done in the block."""
    before = model.state()
    yield
    assert same_arrays(before, model.state())
