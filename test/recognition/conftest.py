"""A recognizer that was taught, for the tests of this folder."""

import pytest
from helpers.feature_stream import Stream, recognizer


@pytest.fixture
def taught() -> Stream:
    """Return a stream to a recognizer that was taught ten views of each of three objects."""
    stream = Stream(recognizer())
    for label in ("mug", "duck", "teddy"):
        stream.teach(label)
    return stream
