"""The SROS 2 policy of every node, and of the page, allows its real topics and services, and nothing else."""

import pytest
from helpers.loading import module_at
from helpers.node_settings import PARAMETERS

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def tool():
    """tools/write_policies.py as a module."""
    from conftest import CHECKOUT

    return module_at(CHECKOUT / "tools" / "write_policies.py")


def test_every_node_has_a_policy(tool, checkout):
    assert set(tool.STARTS) == set(PARAMETERS)
    expected = {tool.path_of(name).name for name in (*PARAMETERS, tool.PAGE)}
    assert {path.name for path in (checkout / "security").iterdir()} == expected


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_policy_allows_what_the_node_does_and_no_more(tool, checkout, name):
    needed = tool.access_of(name)
    compare(tool, checkout, name, {name: needed})
    assert not needed["services", "request"]  # no node calls another one


@pytest.mark.timeout(240)  # four processes start
def test_the_page_may_do_what_its_buttons_ask_and_no_more(tool, checkout):
    compare(tool, checkout, tool.PAGE, tool.access_of_page())


def compare(tool, checkout, name, needed):
    text = (checkout / tool.path_of(name)).read_text()
    allowed = tool.read_policy(text)
    assert set(allowed) == set(needed)
    for node, kind in ((node, kind) for node in needed for kind in tool.KINDS):
        assert allowed[node][kind] == needed[node][kind], f"run tools/write_policies.py: {node} {kind}"
    assert tool.policy(name, needed) == text
