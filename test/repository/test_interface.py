"""Topics and services of the nodes, as they are when configured, stand in the documents with their types."""

import re

import pytest
from helpers.loading import module_at

pytestmark = pytest.mark.timeout(300)


def test_the_pages_say_what_the_nodes_have(checkout, ros_domain, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # a folder without saved models of others
    tool = module_at(checkout / "tools" / "write_interface.py")
    found = tool.interface()
    assert tool.page(found) == (checkout / tool.PAGE).read_text(), "run python tools/write_interface.py"
    text = (checkout / "docs" / "ros_interface.md").read_text()
    assert "`~/classification`" in text  # only where vision_msgs is installed
    for node, endpoints in found.items():
        start = text.index(f"\n## {node} ")
        end = text.find("\n## ", start + 5)
        rows = re.findall(r"^\| (`.*?`) \|(.*)$", text[start : end if end > 0 else None], re.M)
        for one in endpoints:
            row = next((rest for names, rest in rows if f"`{one.name}`" in names), None)
            assert row is not None, f"{node}: {one.name} is not in docs/ros_interface.md"
            assert one.kind.partition("/")[2] in row, f"{node}: {one.name} is a {one.kind}"
            if one.direction != "service":
                assert row.startswith(f" {one.direction}"), f"{node}: {one.name} is {one.direction}"
