"""Arguments that compiled functions must refuse, before they read or write beyond an array."""

import numpy as np
import pytest


def spoiled(value, exact):
    """Yield invalid arguments close to a valid one; with `exact` a longer array is invalid, too."""
    if isinstance(value, bool):  # any other value is true or false, too, so that none is invalid
        return
    if isinstance(value, tuple):
        for place, entry in enumerate(value):
            for other in spoiled(entry, exact):
                yield (*value[:place], other, *value[place + 1 :])
        yield value[:-1]
        yield list(value)
    elif isinstance(value, np.ndarray):
        yield value.ravel()[:-1].copy()
        yield value.astype(np.float32 if value.dtype.kind == "f" else np.int32)
        if exact:
            yield np.concatenate([value.ravel(), value.ravel()])
        if value.dtype.kind == "i":
            yield value + 10**6
            yield value - 10**6
    elif isinstance(value, int):
        yield -1
    yield "nothing of the kind"


def assert_refused(function, arguments, exact=False):
    """Assert that a function accepts its arguments and refuses each of them spoiled."""
    function(*arguments)
    for place, value in enumerate(arguments):
        for other in spoiled(value, exact):
            with pytest.raises((ValueError, IndexError, TypeError)):
                function(*arguments[:place], other, *arguments[place + 1 :])
                pytest.fail(f"argument {place} was taken: {other!r:.200}")
    with pytest.raises(TypeError, match=f"takes {len(arguments)} arguments, got {len(arguments) - 1}"):
        function(*arguments[:-1])
