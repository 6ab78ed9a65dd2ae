"""`icub-learning view`: a recording is served and played, and a port in use is reported."""

import re
import signal
import socket
import sys
import urllib.request
from itertools import count
from types import SimpleNamespace

import pytest
from helpers.recordings import JOINTS, rigid_recording
from helpers.waiting import PATIENCE

from icub_learning.cli import view
from icub_learning.cli.demo import watching
from icub_learning.cli.main import main
from icub_learning.recording import read, write
from icub_learning.view.page.page import Page


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
    with urllib.request.urlopen(process.wait_for(r"page: (http://127\.0\.0\.1:\d+/)\n")[1], timeout=PATIENCE) as answer:
        assert answer.status == 200 and b"<html" in answer.read()
    assert process.stop() == 0 and "Traceback" not in process.output


def test_a_port_that_is_taken_is_said(recording, monkeypatch, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert watching.free_port(port) != port and main(["view", recording, "--port", str(port)]) == 2
        assert re.search(f"port {port}.*--port", capsys.readouterr().err)
    assert 0 < watching.free_port(65536) < 65536
    monkeypatch.setattr(watching, "HOST", "192.0.2.1")  # no machine's address: nothing can be said of its ports
    assert watching.free_port(port) == 0


@pytest.mark.parametrize("token", [[], *(["--host", one, "--token", "secret"] for one in ("0.0.0.0", ""))])
def test_a_recording_plays_in_real_time_until_it_is_interrupted(recording, token, monkeypatch, capsys):
    shown, ends = [], iter([None, None, None, signal.SIGINT])
    clock = SimpleNamespace(monotonic=count(100.0, 0.25).__next__)  # a quarter of a second from look to look
    clock.sleep = lambda _: (number := next(ends)) and signal.raise_signal(number)
    monkeypatch.setattr(view, "time", clock)
    monkeypatch.setattr(Page, "update", lambda _, state: shown.append(state.joints[JOINTS[0]]))
    assert main(["view", recording, "--port", "0", *token]) == 0
    url = f"page: http://{socket.gethostname() if token else '127.0.0.1'}:" + r"\d+/" + r"\?token=secret" * bool(token)
    assert re.match(url, capsys.readouterr().out)  # and viser prints none of its own
    assert shown == [read(recording).position[row, 0] for row in (31, 62, 93, 125)]  # samples are 8 ms apart
