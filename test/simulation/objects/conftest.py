"""Rendering where this machine can: set-up fetches objects and names the packages for OpenGL."""

import pytest

from icub_learning.errors import ObjectError, RenderingError
from icub_learning.simulation import find_objects
from icub_learning.simulation.objects import offscreen


@pytest.fixture(scope="session")
def renderer() -> None:
    try:
        offscreen.find_backend()
        find_objects()
    except (RenderingError, ObjectError) as error:
        pytest.skip(str(error))
