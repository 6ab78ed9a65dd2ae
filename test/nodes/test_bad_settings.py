"""Settings that no node can use end its start with one line that names them, and exit code 1."""

import pytest
from helpers.driven_arm import SETTINGS as ARM

from icub_learning.nodes.common import spinning

BAD = [
    ("cnn_features", {"model": "/no/such/file.onnx"}, "/no/such/file.onnx"), ("cnn_features", {"output": "fc7"}, "fc7"),
    ("cnn_features", {"scale": [1.0, 2.0]}, "scale"), ("icub_simulation", {"rate": 300.0}, "rate.*a divisor of 1000"),
    ("gazebo_joint_states", {"rate": 300.0}, "rate.*1000 divided by a whole number"),
    ("icub_simulation", {"task": "dance"}, "task.*one of circle_xy"),
    ("icub_simulation", {"image_rate": -1.0}, "image_rate.*within"),
    ("inverse_dynamics", ARM | {"urdf": "/no/such/robot.urdf"}, "no such|no/such"),
    ("inverse_dynamics", ARM | {"urdf": "<robot"}, "parse"), ("object_recognition", {"classifier": "magic"}, "rlsc"),
    ("inverse_dynamics", ARM | {"joints": ["r_shoulder_pitch", "r_elbo"]}, "r_elbo.*r_elbow"),
    ("inverse_dynamics", ARM | {"sensor": "nose_ft_sensor"}, "nose_ft_sensor"),
    ("inverse_dynamics", ARM | {"n_random_features": 7}, "even"), ("object_recognition", {"recoding": 1.5}, "recoding"),
    ("inverse_dynamics", ARM | {"output": "smell"}, "wrench.*joint_torque"),
    ("inverse_dynamics", ARM | {"velocity_delay": 2.0}, "velocity_delay"),
    ("object_recognition", {"publish_rate": -1.0}, "publish_rate"),
    ("inverse_dynamics", ARM | {"estimator": "my_package.nothing.X"}, "'my_package.nothing' cannot be imported"),
    ("inverse_dynamics", ARM | {"estimator": "my_package.hostile.Breaks"}, "no such calibration file"),
    ("inverse_dynamics", ARM | {"estimator": "my_package.hostile.Locked"}, "deepcopy"),
    ("object_recognition", {"classifier": "my_package.hostile.Lacking"}, "learn, scores, from_state"),
    ("cnn_features", {"features": "my_package.hostile.a_function"}, "it is a function"),
    ("object_detection", {"box_source": "my_package.ending.X"}, "SystemExit"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "expected"), BAD)
@pytest.mark.usefixtures("own_package")
def test_bad_settings_end_the_start_with_one_clear_line(node_here, name, settings, expected):
    node = node_here(name, **settings)
    node.wait_for(expected)
    assert node.wait() == 1 and "Traceback" not in node.output
    assert len([line for line in node.output.splitlines() if line.strip()]) == 1


def test_a_missing_enclave_ends_the_start_with_one_line(ros_domain, monkeypatch, capfd, tmp_path):
    for name, value in {"ENABLE": "true", "STRATEGY": "Enforce", "KEYSTORE": str(tmp_path)}.items():
        monkeypatch.setenv(f"ROS_SECURITY_{name}", value)
    assert spinning.run(None) == 1
    [line] = capfd.readouterr().err.splitlines()
    assert "enclaves' does not exist" in line
