"""Launch files and `icub-learning launch` start the same processes, and what is started ends."""

import shutil
import signal
import sys
from pathlib import Path
from string import Formatter

import pytest
import yaml
from helpers import launch_stand_in
from helpers.loading import module_at
from helpers.processes import runs
from helpers.waiting import PATIENCE, wait_until

import icub_learning
from icub_learning.cli.launch import EXAMPLE
from icub_learning.cli.main import BAD_INPUT, main
from icub_learning.errors import ParameterError
from icub_learning.launching.commands import MADE, Command, commands, find_executable, parse, share_folder
from icub_learning.launching.supervisor import Supervisor
from icub_learning.launching.table import SYSTEMS

CASES = [
    ("simulation", []), ("simulation", ["config:={config}", "use_sim_time:=false", "log_level:=debug"]),
    ("gazebo", ["gz_args:=-rs"]), ("gazebo", ["robot:=panda"]), ("robot", []),
    ("robot", ["robot:=ur10", "joint_states:=/ur/joint_states", "use_sim_time:=true"]),
    ("robot", ["robot:=icub_left_arm", "wrench:=/icub/left_arm/wrench"]), ("icub", []),
    ("icub", ["left_wrench:=/icub/left_arm/wrench", "right_joint_states:=icub/state_o"]), ("recognition", []),
    ("recognition", ["image:=/camera/image_raw", "config:={config}"]), ("objects", []),
    ("detection", ["image:=/camera/image_raw"]),
    ("recording", ["recording:=some folder/a:=b.db3", "robot:=panda", "rate:=2.5", "stamp_source:=arrival"]),
]  # fmt: skip
LEARNERS = dict.fromkeys(("recognition", "objects"), ("object_recognition", "smoothing_window"))
LEARNERS["icub"] = ("right_arm_dynamics", "joints")
LEARNERS["detection"] = ("object_detection", "n_centers")


def canonical(line, environment):
    """Return what a command means, whatever the order and spelling of its arguments for ROS."""
    cut = line.index("--ros-args") if "--ros-args" in line else len(line)
    rules, parameters = {}, {}
    meaning = {"program": line[:cut], "environment": dict(environment), "rules": rules, "parameters": parameters}
    name = next((text.partition(":=")[2] for text in line if text.startswith("__node:=")), "")
    pairs = iter([text for text in line[cut:] if text != "--ros-args"])
    for flag, text in zip(pairs, pairs, strict=True):
        key, _, value = text.partition(":=")
        if flag == "-r":
            rules[key] = value
        elif flag == "-p":
            parameters.setdefault(name, {})[key] = yaml.safe_load(value)
        elif flag == "--log-level":
            meaning["log_level"] = text
        else:
            for node, entry in yaml.safe_load(Path(text).read_text()).items():
                parameters.setdefault(node, {}).update(entry["ros__parameters"])
    return meaning


@pytest.mark.parametrize(("system", "assignments"), CASES)
def test_both_ways_start_the_same_processes(system, assignments, checkout, tmp_path, monkeypatch):
    """A stand-in replaces ROS 2's launch, which itself starts the same files in test_launch_run.py."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(launch_stand_in.FindPackageShare, "share", {"icub_learning": str(checkout)})
    monkeypatch.delitem(sys.modules, "icub_learning.launching.description", raising=False)
    for name, module in launch_stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    more = "object_recognition: {ros__parameters: {model_file: mine}}\n"  # a section is enough: the others are shipped
    (tmp_path / "mine.yaml").write_text((checkout / "config" / "simulation.yaml").read_text() + more)
    assignments = [text.format(config=tmp_path / "mine.yaml") for text in assignments]
    given = dict(text.split(":=", 1) for text in assignments)
    described = module_at(checkout / "launch" / SYSTEMS[system].launch_file).generate_launch_description()
    processes, context = described.processes(given)
    assert all(isinstance(process.on_exit, launch_stand_in.Shutdown) for process in processes)
    by_file = [canonical(process.line(context), process.environment(context)) for process in processes]
    lines = commands(SYSTEMS[system], parse(SYSTEMS[system], assignments), lambda *names: "/".join(filter(None, names)))
    by_command = [canonical(list(command.line), command.environment) for command in lines]
    twice = [part for one in lines for part in one.line if part.endswith(".yaml") and one.line.count(part) > 1]
    assert by_file == by_command and not twice
    name, parameter = LEARNERS.get(system, ("inverse_dynamics", "joints"))
    learner = next(call for call in by_command if call["rules"].get("__node") == name)
    assert learner["program"][0].endswith("_node") and learner["parameters"][name][parameter]
    assert learner["log_level"] == given.get("log_level", "info")
    assert name != "object_recognition" or ("model_file" in learner["parameters"][name]) == ("config" in given)


def test_the_table_is_complete(checkout):
    files = {file.name for file in (checkout / "launch").glob("*.launch.py")}
    assert files == {system.launch_file for system in SYSTEMS.values()}
    assert {system for system, _ in CASES} == set(SYSTEMS)
    assert {one.name for system in SYSTEMS.values() for one in system.processes if one.finishes} == {"player"}
    for system in SYSTEMS.values():
        names = [argument.name for argument in system.arguments]
        assert "log_level" in names and len(set(names)) == len(names)
        templates = [argument.default or "" for argument in system.arguments]
        for process in system.processes:
            templates += [*process.arguments, *process.parameter_files]
            for texts in (process.parameters, process.remappings, process.environment):
                templates += texts.values()
        used = {name for template in templates for _, name, *_ in Formatter().parse(template) if name is not None}
        assert used <= {*names, *MADE}
        used |= {name for made in used & {*MADE} for name in MADE[made].uses}
        assert set(names) - {"log_level"} <= used, "a launch argument that nothing uses"
        for argument in system.arguments:
            assert f"{argument.description} ({'must be given' if argument.default is None else 'default: '}" in EXAMPLE
            assert argument.description and (not argument.choices or argument.default in argument.choices)


@pytest.mark.parametrize("with_gz", [True, False])
def test_what_gazebo_lacks_is_said_in_one_sentence(with_gz, tmp_path, monkeypatch, capsys):
    program = tmp_path / "gz"
    if with_gz:
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
    assert main(["launch", "gazebo"]) == BAD_INPUT
    (said,) = capsys.readouterr().err.strip().splitlines()
    assert ("the program gz" in said) is not with_gz
    assert all(words in said for words in ("parameter_bridge of the ROS package ros_gz_bridge", "ros-kilted-ros-gz"))


def test_show_prints_lines_for_a_shell(capsys):
    assert main(["launch", "recording", "recording:=my bag", "--show", "robot:=ur10", "joint_state_topic:=arm/q"]) == 0
    learner, player = capsys.readouterr().out.splitlines()
    assert "inverse_dynamics_node --ros-args" in learner and str(share_folder() / "config" / "ur10.yaml") in learner
    assert "replay 'my bag' --rate 1.0" in player and player.endswith(" --joint-state-topic=arm/q --wrench-topic=")


def test_executables_and_files_are_found_where_colcon_and_pip_put_them(tmp_path, checkout, monkeypatch):
    program = tmp_path / "lib" / "some_package" / "some_node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    with pytest.raises(ParameterError, match="some_package"):
        find_executable("some_package", "some_node")  # not executable yet
    program.chmod(0o755)
    assert find_executable("some_package", "some_node") == str(program)
    assert find_executable("", "sh") == shutil.which("sh")
    assert find_executable("icub_learning", "icub-learning") == str(Path(sys.executable).parent / "icub-learning")
    with pytest.raises(ParameterError, match="PATH"):
        find_executable("", "no_such_program_anywhere")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ParameterError, match=r"inverse_dynamics_node.* an executable of package icub_learning"):
        commands(SYSTEMS["robot"], parse(SYSTEMS["robot"], []))
    assert share_folder() == checkout
    monkeypatch.setattr(icub_learning, "__file__", str(tmp_path / "lib" / "icub_learning" / "__init__.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "none"))
    with pytest.raises(ParameterError, match="share/icub_learning"):
        share_folder()
    folder = tmp_path / "share" / "icub_learning"
    folder.mkdir(parents=True)
    (folder / "package.xml").touch()
    assert share_folder() == folder


def python(name: str, script: str, finishes: bool = False) -> Command:
    return Command(name, (sys.executable, "-c", script), {"FROM_TABLE": name}, finishes)


SLEEP = "import time; time.sleep(3600)"  # longer than any test


def test_output_is_forwarded_with_names():
    lines, script = [], "import os; print('one'); print(os.environ['FROM_TABLE'])"
    assert Supervisor(lines.append).run([python("a", script, finishes=True), python("b", SLEEP)]) == 0
    assert lines[:2] == ["[a] one", "[a] a"]


@pytest.mark.parametrize(("command", "said"), [
    (python("it", "pass"), "ended unexpectedly"), (python("it", "raise SystemExit(3)", True), "exit code 3"),
    (python("it", "import os; os.kill(os.getpid(), 11)", True), "SIGSEGV"),
    (Command("it", ("/no/such/program",), {}, False), "cannot be started"),
])  # fmt: skip
def test_what_ends_unexpectedly_or_cannot_start_fails_the_system(command, said):
    lines = []
    assert Supervisor(lines.append).run([python("other", SLEEP), command]) == 1
    assert any(line.startswith("[it]") and said in line for line in lines)


SUPERVISE = """
import sys
from icub_learning.launching import children, commands, supervisor
children.GRACE, scripts = float(sys.argv[1]), enumerate(sys.argv[2:])
started = [commands.Command(f"p{i}", (sys.executable, "-c", text), {}, False) for i, text in scripts]
sys.exit(supervisor.Supervisor().run(started))
"""
POLITE = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("up", os.getpid(), flush=True)
signal.sigwait({signal.SIGTERM})
print("bye")
"""
STUBBORN = """
import os, signal, subprocess, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
print("up", os.getpid(), "child", child.pid, flush=True)
child.wait()
"""


def test_a_signal_ends_all_processes(start_process):
    process = start_process(sys.executable, "-c", SUPERVISE, str(PATIENCE), POLITE, POLITE)
    ids = [int(process.wait_for(rf"\[p{i}\] up (\d+)")[1]) for i in range(2)]
    assert process.stop(signal.SIGTERM) == 0 and process.output.count("bye") == 2
    wait_until(lambda: not any(map(runs, ids)), "their end")


def test_processes_that_ignore_signals_are_killed_with_their_children(start_process):
    process = start_process(sys.executable, "-c", SUPERVISE, "0.3", POLITE, STUBBORN)
    found = process.wait_for(r"\[p1\] up (\d+) child (\d+)")
    process.wait_for(r"\[p0\] up")
    assert process.stop(signal.SIGINT) == 1 and "[p1] did not end within" in process.output
    wait_until(lambda: not any(map(runs, found.groups())), "their end")
