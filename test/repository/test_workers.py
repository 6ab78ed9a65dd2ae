"""Tests of a file, and those that need much of the machine, go to one worker, and their times are told."""

import runpy

import pytest


@pytest.mark.xdist_group("alone")
def test_workers_know_the_groups_of_tests(request: pytest.FixtureRequest) -> None:
    """With a version of pytest that pytest-xdist does not know, the groups are lost silently."""
    assert request.node.nodeid.endswith("@alone") == getattr(request.config.option, "loadgroup", False)


def test_the_times_of_tests_are_told_for_modules_too_that_are_skipped_as_a_whole(checkout):
    node_id = runpy.run_path(str(checkout / "tools" / "test_times"))["node_id"]
    assert node_id("", "test.documents.test_site") == "test/documents/test_site.py"
    assert node_id("test.test_files", "test_a[b]@cli/x.py") == "test/test_files.py::test_a[b]"
