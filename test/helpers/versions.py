"""Tests on every version of a compiled module, one for each instruction set that the processor has."""

import pytest


def every_version(*modules, autouse=False):
    """Return a fixture that runs tests once on each version of compiled modules and restores those in use before."""

    @pytest.fixture(params=modules[0].available(), scope="module", autouse=autouse)
    def version(request):
        before = [module.use(request.param) for module in modules]
        yield request.param
        for module, used in zip(modules, before, strict=True):
            module.use(used)

    return version
