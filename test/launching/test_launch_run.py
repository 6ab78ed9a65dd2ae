"""`icub-learning launch` with the real nodes: predictions arrive over DDS, and all processes end."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.faulty_icub import FaultyIcub
from helpers.node_probe import NodeProbe
from helpers.processes import Process, nodes_in
from helpers.robots import RIGHT_ARM, UR10_JOINTS

from icub_learning.errors import ParameterError
from icub_learning.launching.commands import find_executable

pytestmark = [pytest.mark.ros, pytest.mark.xdist_group("alone")]


@pytest.fixture(autouse=True)
def installed() -> None:
    try:
        for name in ("inverse_dynamics_node", "icub_simulation_node"):
            find_executable("icub_learning", name)
    except ParameterError as error:
        pytest.skip(f"runs from the source folder: {error}")


def launch(start_process: Callable[..., Process], *arguments: str) -> Process:
    return start_process(sys.executable, "-m", "icub_learning.cli", "launch", *arguments)


def test_simulation(ros_domain: int, start_process: Callable[..., Process]) -> None:
    with NodeProbe(RIGHT_ARM) as probe:
        process = launch(start_process, "simulation", "log_level:=warn")
        probe.until(lambda: len(probe.predictions) >= 100, "predictions")
        probe.until(lambda: len(probe.outputs["external"]) >= 20, "wrenches that are paired with states")
        assert len(nodes_in(ros_domain)) == 2
        stamps = probe.stamps()
        assert len(set(stamps)) == len(stamps)
        assert process.stop(signal.SIGINT) == 0, process.output
    assert not nodes_in(ros_domain)
    assert "Traceback" not in process.output


def test_a_node_that_dies_fails_the_system(ros_domain: int, start_process: Callable[..., Process]) -> None:
    process = launch(start_process, "simulation")
    process.wait_for(r"\[inverse_dynamics\] .*estimator")
    process.wait_for(r"\[icub_simulation\] .*arm at")
    os.kill(next(iter(nodes_in(ros_domain))), signal.SIGKILL)
    assert process.wait() == 1
    assert "ended unexpectedly: signal SIGKILL" in process.output
    assert not nodes_in(ros_domain)


@pytest.mark.slow
def test_recording(ros_domain: int, start_process: Callable[..., Process], shared_data: Path) -> None:
    recording = shared_data / "ur10" / "ur10_exciting_trajectory.db3"
    with NodeProbe(UR10_JOINTS) as probe:
        process = launch(
            start_process, "recording", f"recording:={recording}", "robot:=ur10", "rate:=4", "log_level:=warn"
        )
        probe.until(lambda: not process.running, "its end")
        assert process.stop() == 0, process.output
    assert len(probe.predictions) > 100
    assert len(probe.outputs["external"]) > 100
    assert "[player] is done" in process.output
    assert not nodes_in(ros_domain)


def test_a_recording_that_is_not_there(ros_domain: int, start_process: Callable[..., Process]) -> None:
    process = launch(start_process, "recording", "recording:=/no/such/file.db3")
    assert process.wait() == 1
    assert "/no/such/file.db3" in process.output
    assert not nodes_in(ros_domain)


def test_a_parameter_that_a_node_refuses(ros_domain, start_process, tmp_path):
    config = tmp_path / "bad.yaml"
    config.write_text("inverse_dynamics: {ros__parameters: {urdf: ur10, joints: [elbow_joint], estimator: oracle}}")
    process = launch(start_process, "robot", f"config:={config}")
    assert process.wait() == 1
    assert "estimator is 'oracle'" in process.output


def test_both_arms_of_an_icub_at_once(ros_domain: int, start_process: Callable[..., Process]) -> None:
    with FaultyIcub() as robot:
        process = launch(start_process, "icub", "log_level:=warn")
        robot.wait(20)
        assert len(nodes_in(ros_domain)) == 2
        for side in ("right", "left"):
            assert {one.header.frame_id for one in robot.external[side]} == {f"{side[0]}_upper_arm"}
        assert process.stop(signal.SIGINT) == 0, process.output
    assert not nodes_in(ros_domain)
