"""`icub-learning view` as a process: a recording is served, and a port in use is reported."""

import re
import socket
import sys
import urllib.request

import pytest
from helpers.recordings import JOINTS, rigid_recording
from helpers.waiting import PATIENCE

from icub_learning.cli.demo.watching import free_port
from icub_learning.cli.main import main
from icub_learning.recording import write


@pytest.fixture
def recording(tmp_path):
    write(rigid_recording(400), path := tmp_path / "motion.npz")
    return str(path)


@pytest.mark.check
@pytest.mark.parametrize("predicted", [False, True])
def test_a_recording_is_served_until_it_is_interrupted(start_process, recording, predicted):
    learned = f"--urdf ur10 --output joint_torque --joints {','.join(JOINTS)} --n-random-features 20"
    line = f"view {recording} --port 0 {learned if predicted else ''}"
    process = start_process(sys.executable, "-m", "icub_learning.cli", *line.split())
    address = process.wait_for(r"page: (http://127\.0\.0\.1:\d+/)\n")[1]
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        assert answer.status == 200 and b"<html" in answer.read()
    assert process.stop() == 0
    assert "Traceback" not in process.output


def test_a_port_that_is_taken_is_said(recording, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) != port
        assert main(["view", recording, "--port", str(port)]) == 2
        assert re.search(f"port {port}.*--port", capsys.readouterr().err)
