"""Numbers set by hand, with their reasons or beside their record; the page of topics and services of the nodes."""

import ast
import re

import pytest
from helpers import records
from helpers.loading import module_at


def test_the_page_of_constants_says_what_the_package_says(checkout):
    write_constants = module_at(checkout / "tools" / "write_constants.py")
    said, written = write_constants.page(), write_constants.PAGE.read_text()
    changed = sorted(set(said.splitlines()) ^ set(written.splitlines()))
    assert not changed, f"run python tools/write_constants.py: {changed}"
    without = [line for line in written.splitlines() if line.endswith("|  |")]
    assert not without, "a comment beside each number, or above, says why it is what it is"


@pytest.mark.parametrize("folder", ["experiments", "simulation"])
def test_numbers_of_experiments_and_simulated_robots(checkout, folder):
    found = {}
    for file in sorted((checkout / "icub_learning" / folder).rglob("*.py")):
        module = ast.parse(file.read_text())
        sizes = (n for n in ast.walk(module) if isinstance(n, ast.If | ast.IfExp) and "quick" in ast.unparse(n.test))
        for node in (*(one for one in module.body if isinstance(one, ast.Assign | ast.AnnAssign)), *sizes):
            if any(type(getattr(one, "value", None)) in (int, float) for one in ast.walk(node)):
                found.setdefault(str(file.relative_to(checkout)), []).append("".join(ast.unparse(node).split()))
    records.check(__file__, folder, found)


def test_reasons_stand_beside_the_number_or_above(tmp_path, checkout):
    write_constants = module_at(checkout / "tools" / "write_constants.py")
    python, c = tmp_path / "some.py", tmp_path / "some.c"
    python.write_text(
        "# [s] as measured\nA, B = 1.0, 2\nC = 3  # three\nF = 7\n# Both:\nG = 8  # one\nH = 9  # two\n\n"
        'D = 4\nNAME = "text"\nlow = 5\nE = -(6)  # noqa\nI = {"x": 1}  # a table\nJ = {"x": F, "y": 1}\nK = f("", 1)\n'
    )
    c.write_text('/* Both\n * of them. */\n#define A 1\n#define B 2 /* two */\n\n#define C 3\n#define TEXT "4"\n')
    assert [tuple(one) for one in write_constants.constants_of(python)] == [
        ("A, B", "(1.0, 2)", "[s] as measured"), ("C", "3", "three"), ("F", "7", "[s] as measured"),
        ("G", "8", "Both: one"), ("H", "9", "Both: two"), ("D", "4", ""), ("E", "-6", ""), ("I", "{'x': 1}", "a table"),
    ]  # fmt: skip
    found = [tuple(one) for one in write_constants.constants_of(c)]
    assert found == [("A", "1", "Both of them."), ("B", "2", "two"), ("C", "3", "")]


@pytest.mark.timeout(300)
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


def test_the_list_of_long_tests_names_tests_that_there_are(checkout):
    contract = (checkout / "icub_learning" / "testing.py").read_text()
    for line in (checkout / "test" / "long_tests.txt").read_text().splitlines():
        path, *_, name = line.partition(" every ")[0].partition("[")[0].split("::")
        assert f"def {name}(" in (checkout / path).read_text() + contract, f"{line} is no more"
