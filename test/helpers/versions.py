"""Tests on every version of a compiled module, one for each instruction set that the processor has."""

import pytest


def every_version(module, autouse=False):
    """A fixture that runs the tests of a module once on each version and puts the one in use back afterwards."""

    @pytest.fixture(params=module.available(), scope="module", autouse=autouse)
    def version(request):
        before = module.use(request.param)
        yield request.param
        module.use(before)

    return version
