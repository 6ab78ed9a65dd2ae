"""Launch files and `icub-learning launch` start the same processes, and what is started ends."""

import importlib.util
import json
import os
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import launch_stand_in
from helpers.loading import module_at
from helpers.processes import runs
from helpers.waiting import PATIENCE, wait_until

import icub_learning
from icub_learning.cli.main import BAD_INPUT, main
from icub_learning.errors import ParameterError
from icub_learning.launching import table
from icub_learning.launching.commands import MADE, Command, commands, fields, find_executable, parse, share_folder
from icub_learning.launching.supervisor import Supervisor
from icub_learning.launching.table import SYSTEMS

HAS_LAUNCH = importlib.util.find_spec("launch_ros") is not None
LAUNCHERS = ["stand_in", pytest.param("launch", marks=pytest.mark.skipif(not HAS_LAUNCH, reason="needs launch_ros"))]
CASES = [
    ("simulation", []), ("simulation", ["config:={config}", "use_sim_time:=false", "log_level:=debug"]),
    ("gazebo", ["gz_args:=-rs"]), ("gazebo", ["robot:=panda"]), ("robot", []),
    ("robot", ["robot:=ur10", "joint_states:=/ur/joint_states", "use_sim_time:=true"]),
    ("robot", ["robot:=icub_left_arm", "wrench:=/icub/left_arm/wrench"]), ("icub", []),
    ("icub", ["left_wrench:=/icub/left_arm/wrench", "right_joint_states:=/icub/state:o"]), ("recognition", []),
    ("recognition", ["image:=/camera/image_raw", "use_sim_time:=true"]), ("objects", []),
    ("detection", ["image:=/camera/image_raw"]),
    ("recording", ["recording:=some folder/file.db3", "robot:=panda", "rate:=2.5", "stamp_source:=arrival"]),
]  # fmt: skip
LEARNERS = dict.fromkeys(("recognition", "objects"), ("object_recognition", "smoothing_window"))
LEARNERS["icub"] = ("right_arm_dynamics", "joints")
LEARNERS["detection"] = ("object_detection", "n_centers")
STUB = """#!{python}
import json, os, sys, time
line = sys.argv[1:]
files = {{path: open(path).read() for flag, path in zip(line, line[1:]) if flag == "--params-file"}}
name = "{name}"
for flag, rule in zip(line, line[1:]):
    if flag == "-r" and rule.startswith("__node:="):
        name += "-" + rule.partition(":=")[2]
call = dict(line=["{package}/{name}", *line], files=files, resources=os.environ.get("GZ_SIM_RESOURCE_PATH"))
with open(os.path.join("{folder}", name + ".partial"), "w") as stream:
    json.dump(call, stream)
os.rename(stream.name, stream.name.replace(".partial", ".json"))
time.sleep(3600)
"""


def canonical(line: list[str], files: dict[str, str] | None = None) -> dict[str, Any]:
    """What a command line means, whatever the order and spelling of its arguments for ROS."""
    cut = line.index("--ros-args") if "--ros-args" in line else len(line)
    rules: dict[str, str] = {}
    parameters: dict[str, dict[str, Any]] = {}
    meaning = {"program": line[:cut], "rules": rules, "parameters": parameters, "log_level": None}
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
            content = yaml.safe_load((files or {}).get(text) or Path(text).read_text())
            for node, entry in content.items():
                parameters.setdefault(name if node == "/**" else node, {}).update(entry["ros__parameters"])
    return meaning


@pytest.fixture
def launch_modules(monkeypatch: pytest.MonkeyPatch, checkout: Path) -> Callable[[str], None]:
    """Make `import launch` mean the stand-in, or what is installed."""

    def use(launcher: str) -> None:
        monkeypatch.delitem(sys.modules, "icub_learning.launching.description", raising=False)
        if launcher == "stand_in":
            launch_stand_in.FindPackageShare.share = {"icub_learning": str(checkout)}
            for name, module in launch_stand_in.modules().items():
                monkeypatch.setitem(sys.modules, name, module)

    return use


def described(system: str, checkout: Path) -> Any:
    return module_at(checkout / "launch" / SYSTEMS[system].launch_file).generate_launch_description()


def started_by_stand_in(description: Any, given: dict[str, str]) -> list[dict[str, Any]]:
    processes, context = description.processes(given)
    return [
        {**canonical(process.line(context)), "resources": process.environment(context).get("GZ_SIM_RESOURCE_PATH")}
        for process in processes
    ]


def started_by_launch(system: str, given: dict[str, str], share: Path, folder: Path) -> list[dict[str, Any]]:
    """Start the launch file for real, on executables that only tell how they were called."""
    from launch import LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    prefix = folder / "prefix"
    (prefix / "share" / "ament_index" / "resource_index" / "packages").mkdir(parents=True)
    (prefix / "bin").mkdir()
    calls = folder / "calls"
    calls.mkdir()
    (prefix / "share" / "icub_learning").symlink_to(share)
    names = []
    for process in SYSTEMS[system].processes:
        if process.package:
            (prefix / "share" / "ament_index" / "resource_index" / "packages" / process.package).touch()
        target = prefix / "lib" / process.package if process.package else prefix / "bin"
        target.mkdir(parents=True, exist_ok=True)
        stub = STUB.format(python=sys.executable, name=process.executable, package=process.package, folder=calls)
        (target / process.executable).write_text(stub)
        (target / process.executable).chmod(stat.S_IRWXU)
        names.append(process.executable + (f"-{process.name}" if process.is_node else ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMENT_PREFIX_PATH", str(prefix))
        patch.setenv("PATH", f"{prefix / 'bin'}:{os.environ['PATH']}")
        patch.setenv("ROS_LOG_DIR", str(folder / "log"))
        service = LaunchService()
        source = PythonLaunchDescriptionSource(str(share / "launch" / SYSTEMS[system].launch_file))
        service.include_launch_description(IncludeLaunchDescription(source, launch_arguments=given.items()))

        def wait() -> None:
            try:
                wait_until(lambda: len(list(calls.glob("*.json"))) == len(names), "all processes")
            finally:
                service.shutdown()

        waiter = threading.Thread(target=wait)
        waiter.start()
        service.run()
        waiter.join()
    found = [json.loads((calls / f"{name}.json").read_text()) for name in names]
    return [{**canonical(call["line"], call["files"]), "resources": call["resources"]} for call in found]


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize(("system", "assignments"), CASES)
def test_both_ways_start_the_same_processes(
    system, assignments, launcher, launch_modules, checkout, tmp_path, monkeypatch
):
    monkeypatch.delenv("GZ_SIM_RESOURCE_PATH", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copy(checkout / "config" / "simulation.yaml", tmp_path / "mine.yaml")
    assignments = [text.format(config=tmp_path / "mine.yaml") for text in assignments]
    given = dict(text.split(":=", 1) for text in assignments)

    launch_modules(launcher)
    if launcher == "stand_in":
        by_file = started_by_stand_in(described(system, checkout), given)
    else:
        by_file = started_by_launch(system, given, checkout, tmp_path)
        installed = str(tmp_path / "prefix" / "share" / "icub_learning")
        by_file = json.loads(json.dumps(by_file).replace(installed, str(checkout)))

    lines = commands(SYSTEMS[system], parse(SYSTEMS[system], assignments), lambda *names: "/".join(names))
    by_command = [
        {**canonical(list(command.line)), "resources": command.environment.get("GZ_SIM_RESOURCE_PATH")}
        for command in lines
    ]
    for call in [*by_file, *by_command]:  # a program without package: its name alone
        call["program"][0] = call["program"][0].lstrip("/")
    assert by_file == by_command
    # What must be in it, so that two empty answers would not agree.
    name, parameter = LEARNERS.get(system, ("inverse_dynamics", "joints"))
    learner = next(call for call in by_command if call["rules"].get("__node") == name)
    assert learner["program"][0].endswith("_node")
    assert learner["parameters"][name][parameter]
    assert learner["log_level"] == given.get("log_level", "info")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_ends_with_its_processes(system: str, launch_modules: Callable[[str], None], checkout: Path) -> None:
    launch_modules("stand_in")
    processes, _ = described(system, checkout).processes({"recording": "file.db3"})
    for process in processes:
        assert isinstance(process.on_exit, launch_stand_in.Shutdown)


def test_the_table_is_complete(checkout: Path) -> None:
    assert {file.name for file in (checkout / "launch").glob("*.launch.py")} == {
        system.launch_file for system in SYSTEMS.values()
    }
    for system in SYSTEMS.values():
        names = [argument.name for argument in system.arguments]
        assert "log_level" in names
        assert len(set(names)) == len(names)
        templates = [text for process in system.processes for text in templates_of(process)]
        used = {name for template in templates for _, name in fields(template) if name is not None}
        used |= {
            name for argument in system.arguments for _, name in fields(argument.default or "") if name is not None
        }
        assert used <= {*names, *MADE}
        used |= {name for made in used & {*MADE} for name in MADE[made].uses}
        assert set(names) - {"log_level"} <= used, "a launch argument that nothing uses"
        for argument in system.arguments:
            assert argument.description
            assert not argument.choices or argument.default in argument.choices


def templates_of(process: table.Process) -> Iterator[str]:
    yield from process.arguments
    yield from process.parameter_files
    for texts in (process.parameters, process.remappings, process.environment):
        yield from texts.values()


@pytest.mark.parametrize("with_gz", [True, False])
def test_what_gazebo_lacks_is_said_in_one_sentence(with_gz, tmp_path, monkeypatch, capsys):
    program = tmp_path / "gz"
    if with_gz:
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
    assert main(["launch", "gazebo"]) == BAD_INPUT
    (sentence,) = capsys.readouterr().err.strip().splitlines()
    assert ("the program gz" in sentence) is not with_gz
    assert "parameter_bridge of the ROS package ros_gz_bridge" in sentence
    assert "apt-get install ros-kilted-ros-gz" in sentence


def test_show_prints_lines_for_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "recording", "recording:=my bag", "robot:=ur10", "--show"]) == 0
    learner, player = capsys.readouterr().out.splitlines()
    assert "inverse_dynamics_node --ros-args" in learner
    assert str(share_folder() / "config" / "ur10.yaml") in learner
    assert "replay 'my bag' --rate 1.0" in player


def test_executables_are_found_where_colcon_and_pip_put_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "lib" / "some_package" / "some_node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    with pytest.raises(ParameterError, match="some_package"):
        find_executable("some_package", "some_node")  # not executable yet
    program.chmod(0o755)
    assert find_executable("some_package", "some_node") == str(program)
    assert find_executable("", "sh") == shutil.which("sh")
    with pytest.raises(ParameterError, match="PATH"):
        find_executable("", "no_such_program_anywhere")


def test_files_are_found_in_the_checkout_or_where_they_were_installed(tmp_path, checkout, monkeypatch):
    assert share_folder() == checkout
    monkeypatch.setattr(icub_learning, "__file__", str(tmp_path / "lib" / "icub_learning" / "__init__.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "none"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    with pytest.raises(ParameterError, match="share/icub_learning"):
        share_folder()
    folder = tmp_path / "share" / "icub_learning"
    folder.mkdir(parents=True)
    (folder / "package.xml").touch()
    assert share_folder() == folder


# ---- Running


def python(name: str, script: str, finishes: bool = False) -> Command:
    return Command(name, (sys.executable, "-c", script), {"FROM_TABLE": name}, finishes)


SLEEP = "import time; time.sleep(3600)"  # longer than any test


def test_output_is_forwarded_with_names() -> None:
    lines: list[str] = []
    script = "import os; print('one'); print(os.environ['FROM_TABLE'])"
    assert Supervisor(lines.append).run([python("a", script, finishes=True), python("b", SLEEP)]) == 0
    assert lines[:2] == ["[a] one", "[a] a"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (python("it", "pass"), "ended unexpectedly"), (python("it", "raise SystemExit(3)", True), "exit code 3"),
        (python("it", "import os; os.kill(os.getpid(), 11)"), "SIGSEGV"),
        (Command("it", ("/no/such/program",), {}, False), "cannot be started"),
    ],
)  # fmt: skip
def test_what_ends_unexpectedly_or_cannot_start_fails_the_system(command: Command, said: str) -> None:
    lines: list[str] = []
    assert Supervisor(lines.append).run([python("other", SLEEP), command]) == 1
    assert any(line.startswith("[it]") and said in line for line in lines)


SUPERVISE = """
import sys
from icub_learning.launching.commands import Command
from icub_learning.launching import children, supervisor
children.GRACE, scripts = float(sys.argv[1]), sys.argv[2:]
commands = [Command(f"p{i}", (sys.executable, "-c", text), {}, False) for i, text in enumerate(scripts)]
sys.exit(supervisor.Supervisor().run(commands))
"""
POLITE = """
import os, signal, sys
print("up", os.getpid(), flush=True)
signal.sigwait({signal.SIGINT})
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


def test_a_signal_ends_all_processes(start_process: Callable[..., Any]) -> None:
    process = start_process(sys.executable, "-c", SUPERVISE, str(PATIENCE), POLITE, POLITE)
    ids = [int(process.wait_for(rf"\[p{i}\] up (\d+)")[1]) for i in range(2)]
    assert process.stop(signal.SIGTERM) == 0
    assert process.output.count("bye") == 2
    wait_until(lambda: not any(map(runs, ids)), "their end")


def test_processes_that_ignore_signals_are_killed_with_their_children(start_process: Callable[..., Any]) -> None:
    process = start_process(sys.executable, "-c", SUPERVISE, "0.3", POLITE, STUBBORN)
    found = process.wait_for(r"\[p1\] up (\d+) child (\d+)")
    process.wait_for(r"\[p0\] up")
    assert process.stop(signal.SIGINT) == 1
    assert "[p1] did not end within" in process.output
    wait_until(lambda: not any(map(runs, found.groups())), "their end")
