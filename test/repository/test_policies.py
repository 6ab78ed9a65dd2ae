"""The SROS 2 policy of every node allows its real topics and services, and nothing else."""

import importlib.util

import pytest
from helpers.node_settings import PARAMETERS

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def tool():
    """tools/write_policies.py as a module."""
    from conftest import CHECKOUT

    spec = importlib.util.spec_from_file_location("write_policies", CHECKOUT / "tools" / "write_policies.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_node_has_a_policy(tool, checkout):
    assert set(tool.STARTS) == set(PARAMETERS)
    assert {path.name for path in (checkout / "security").iterdir()} == {tool.path_of(name).name for name in PARAMETERS}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_policy_allows_what_the_node_does_and_no_more(tool, checkout, name):
    allowed = tool.read_policy((checkout / tool.path_of(name)).read_text())
    needed = tool.access_of(name)
    for kind in tool.KINDS:
        assert allowed[kind] == needed[kind], f"run tools/write_policies.py: {kind}"
    assert not needed["services", "request"]  # no node calls another one
    assert tool.policy(name, needed) == (checkout / tool.path_of(name)).read_text()
