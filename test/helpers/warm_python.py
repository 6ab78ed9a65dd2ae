"""Python programs without the seconds that their imports take: forks of a process that has imported everything already.
A node imports NumPy, Pinocchio and ROS 2 before its first line runs, and tests start hundreds of nodes. So the fork
server of multiprocessing imports what nodes and commands import. `python -m icub_learning...` and `python FILE.py` run
in forks of it, in a session and environment of their own, as a new interpreter would run them, but with longer time
limits for a busy machine (helpers.limits). Any other command replaces its fork."""

import atexit
import faulthandler
import multiprocessing
import os
import runpy
import signal
import sys
from multiprocessing import forkserver
from pathlib import Path
from typing import Any
from unittest import mock

NODES = ("inverse_dynamics", "object_recognition", "icub_simulation", "gazebo_controller")
LIMITED = ("cli.check.command", "cli.latency", "cli.teach.dialogue", "clients.arm_session", "view.live.services")
IMPORTED = (*(f"nodes.{name}.node" for name in NODES), *LIMITED, "evaluation", "simulation.arm.recordings")
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([f"icub_learning.{name}" for name in IMPORTED])
OURS = ("", *map(str, Path(__file__).resolve().parents[1:3]))  # on pytest's sys.path, but not a new interpreter's
PATH = [folder for folder in sys.path if folder not in OURS]


def start(command: list[str], log: Path) -> Any:
    """Start a command in the folder and environment of this process, its output in `log`."""
    with mock.patch.dict(os.environ):
        os.environ.pop("COVERAGE_PROCESS_START", None)  # coverage of programs, not of the fork server
        forkserver.ensure_running()
    given = (command, str(log), os.getcwd(), dict(os.environ), PATH)
    process = FORKS.Process(target=become, args=given, daemon=True)  # ended with pytest at the latest
    process.start()
    return process


def become(command: list[str], log: str, folder: str, environment: dict[str, str], path: list[str]) -> None:
    """Make this fork what a new process of a command would be."""
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # where pytest runs under nohup
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with open(os.devnull, "rb") as nothing, open(log, "wb") as output:
        for number, file in enumerate((nothing, output, output)):
            os.dup2(file.fileno(), number)
    python, *line = command
    if line[0] == "-m" and line[1].startswith("icub_learning."):
        line = line[1:]
    is_file = line[0].endswith(".py")
    if python != sys.executable or not (is_file or line[0].startswith("icub_learning.")):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, which exec would keep
        os.execvp(python, command)
    from helpers.limits import set_limits

    set_limits()
    faulthandler.register(signal.SIGUSR1)  # Process.wait asks a program that hangs where it is
    sys.argv, sys.path[:] = line, [os.path.dirname(line[0]) if is_file else folder, *path]
    sys.modules.pop(line[0], None)
    if "COVERAGE_PROCESS_START" in os.environ:
        import coverage

        coverage.process_startup()
    try:
        if is_file:
            runpy.run_path(line[0], run_name="__main__")
        else:
            runpy.run_module(line[0], run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # a fork ends without calling them
