"""Tests of a file, and those that need much of the machine, go to one worker."""

import pytest


@pytest.mark.xdist_group("alone")
def test_workers_know_the_groups_of_tests(request: pytest.FixtureRequest) -> None:
    """With a version of pytest that pytest-xdist does not know, the groups are lost silently."""
    assert request.node.nodeid.endswith("@alone") == getattr(request.config.option, "loadgroup", False)
