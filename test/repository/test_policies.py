"""The SROS 2 policy of every node, and of the page, allows its real topics and services, and nothing else."""

from contextlib import nullcontext
from itertools import count

import pytest
from helpers.loading import module_at
from helpers.node_settings import PARAMETERS
from helpers.processes import Process, shy_node_command
from helpers.waiting import PATIENCE

pytestmark = pytest.mark.ros
# For each start of a node, with one output: how the topics of its other output end, which it lacks.
OF_OTHERS = {"inverse_dynamics": [("effort", "effort_deviation"), ("wrench", "wrench_deviation")]}


@pytest.fixture(scope="module")
def tool(checkout):
    return module_at(checkout / "tools" / "write_policies.py")


def test_every_node_has_a_policy(tool, checkout):
    assert set(tool.STARTS) == set(PARAMETERS)
    expected = {tool.path_of(name).name for name in (*PARAMETERS, tool.PAGE)}
    assert {path.name for path in (checkout / "security").iterdir()} == expected


@pytest.fixture
def look(tool, ros_domain, monkeypatch):
    """Return a function that makes the tool look at nodes until a condition on its probe and its look number holds."""

    def patiently(condition):
        numbers = count()

        class Probe(tool.Probe):
            def spin(self, seconds):
                number = next(numbers)
                self.until(lambda: condition(self, number), PATIENCE)

        def node(module, log, name="", **parameters):
            return Process(shy_node_command(module, name, parameters), log)

        changed = {"Probe": Probe, "Child": Process, "node": node, "own_domain": nullcontext}
        for name, value in (changed | dict.fromkeys(("FOUND_LIMIT", "PAGE_LIMIT"), PATIENCE)).items():
            monkeypatch.setattr(tool, name, value)

    return patiently


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_policy_allows_what_the_node_does_and_no_more(tool, checkout, name, look):
    allowed = tool.read_policy((checkout / tool.path_of(name)).read_text())[name]
    of_others = OF_OTHERS.get(name, [()])
    assert len(of_others) == len(tool.STARTS[name])

    def complete(probe, start):
        seen = tool.seen_by(probe, name)
        missing = set().union(*(allowed[kind] - seen[kind] for kind in allowed))
        missing -= {tool.CLOCK} | tool.OPTIONAL.get(name, set())
        return all(topic.endswith(of_others[start]) for topic in missing)

    look(complete)
    needed = tool.access_of(name)
    compare(tool, checkout, name, {name: needed})
    assert not needed["services", "request"]  # no node calls another one


def test_the_page_may_do_what_its_buttons_ask_and_no_more(tool, checkout, look):
    allowed = tool.read_policy((checkout / tool.path_of(tool.PAGE)).read_text())

    def complete(probe, _start):
        offered = set().union(*(tool.seen_by(probe, name)["services", "reply"] for name in tool.ASKED))
        seen = {name: tool.seen_by(probe, name) | {("services", "request"): offered} for name in tool.PAGE_NODES}
        return all(allowed[name][kind] <= seen[name][kind] for name in seen for kind in tool.KINDS)

    look(complete)
    compare(tool, checkout, tool.PAGE, tool.access_of_page())


def compare(tool, checkout, name, needed):
    assert tool.policy(name, needed) == (checkout / tool.path_of(name)).read_text(), "run tools/write_policies.py"
