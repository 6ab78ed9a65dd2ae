"""Simulated robots beside their records: learners are compared on the same robots as before."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import records

from icub_learning.robots import find_urdf
from icub_learning.simulation import ArmSimulation, ObjectScene, SimulationSettings, gazebo_model
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.objects.table_scene import TableScene
from icub_learning.simulation.zoo import ZOO


def fields(made):
    """Return what an object holds; of stamps only how far apart they are."""
    told = {name: value for name, value in vars(made).items() if value is not None}
    return {name: np.diff(value) if name.endswith(("stamps", "arrivals")) else value for name, value in told.items()}


@pytest.mark.parametrize("name", ZOO)
def test_robots_of_the_zoo(name):
    made = fields(ZOO[name].record(1.5, 0))
    del made["settings"]  # they have the whole URDF in them
    records.check(__file__, f"zoo, {name}", made | {"recording": fields(made["recording"])})


@pytest.mark.parametrize(("side", "task"), [("right", "circle_xy"), ("left", "circle_xz"), ("left", "random")])
def test_arms(side, task):
    arm, found = ArmSimulation(SimulationSettings(side=side, task=task, seed=1)), []
    acts = (
        lambda: arm.attach_payload(0.4, (0.0, 0.02, 0.01)), lambda: arm.push((1.0, -4.0, 2.0), 0.2),
        lambda: arm.set_task("hold"),
        lambda: arm.command_trajectory(arm.arm.joint_names[4:6], [0.4, 0.6], [[0.1, -0.2], [0.2, -0.1]]),
    )  # fmt: skip
    for act in acts:
        act()
        for _ in range(300):
            arm.step()
        found.append({"sensors": fields(arm.sensors()), "truth": fields(arm.truth())})
    records.check(__file__, f"{side} arm, {task}", found)


def test_model_for_gazebo():
    arm = ArmModel("left")
    model = gazebo_model.gazebo_model(find_urdf("icub"), arm.joint_names, arm.sensor)
    movable = [line for line in model.splitlines() if "limit" in line or "dynamics" in line]
    records.check(__file__, "model for Gazebo", [*movable, *model[model.index("<gazebo") :].splitlines()])


PLACED = "body_pos body_quat cam_fovy cam_pos cam_quat geom_group geom_pos geom_quat geom_size"
LIT = "light_diffuse light_dir light_pos light_specular mat_rgba mat_shininess mat_specular tex_type"


@pytest.mark.usefixtures("renderer")
@pytest.mark.parametrize("kind", [ObjectScene, TableScene])
def test_scenes(kind, monkeypatch):
    """What is given to OpenGL, which draws it in its own way on each machine."""
    found = []

    def renderer(model, w, h):
        def render(data, camera):
            shown, visual = {name: 1.0 * getattr(model, name) for name in f"{PLACED} {LIT}".split()}, model.vis
            rest = [*visual.headlight.ambient, visual.map.znear, visual.map.shadowclip, visual.quality.shadowsize]
            found.append(shown | {"rest": rest, "painted": model.tex_data[::997], "joints": 1.0 * data.qpos})
            return np.zeros((h, w, 3))

        return SimpleNamespace(render=render, segment=lambda *_: np.full((h, w), -1), upload_texture=found.append)

    monkeypatch.setattr("icub_learning.simulation.objects.rendered.OffscreenRenderer", renderer)
    scene = kind(["duck", "mug", "hammer", "star"], seed=2, size=(64, 48))
    for number, name in enumerate(("", "star")):
        getattr(scene, "show", list)(name)
        assert not getattr(scene.render(number), "labels", [])  # no pixel is that of an object
    records.check(__file__, kind.__name__, found)
