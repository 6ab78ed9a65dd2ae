"""`icub-learning export-urdf`: write a robot's URDF with learned inertial parameters."""

import argparse
from pathlib import Path
from typing import Any

DESCRIPTION = "Write a robot's URDF with the inertial parameters that a saved model has learned."
EXAMPLE = """\
The parameters are the physically consistent ones nearest to what was learned: what no motion has shown is as in the
URDF, and every link could be a real body, so that Pinocchio, MuJoCo and Gazebo accept the result.

example:
  ros2 service call /inverse_dynamics/save_model icub_learning_msgs/srv/ModelFile "{path: arm}"
  icub-learning export-urdf ~/.local/state/icub_learning/models/arm.npz learned.urdf --urdf icub"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", type=Path, help="model saved by ~/save_model")
    parser.add_argument("output", metavar="OUTPUT", type=Path, help="URDF to write")
    text = "the whole robot: a path, package://..., or a known robot (default: the model's own, without shapes)"
    parser.add_argument("--urdf", help=text)


def run(args: argparse.Namespace) -> None:
    from icub_learning.dynamics.changes.consistency import ConsistentParameters, bodies_of, consistent_part
    from icub_learning.dynamics.regressors.urdf_export import with_inertias
    from icub_learning.dynamics.saved_model import estimator_of
    from icub_learning.errors import StateError
    from icub_learning.models import load_state, scalar
    from icub_learning.reporting.tables import replacing_for
    from icub_learning.robots import find_urdf

    state = load_state(args.model)
    if "estimator" not in state:
        raise StateError(f"{args.model} is no model of inverse dynamics", name=str(args.model))
    kind = str(scalar(state, "estimator"))
    if "nonparametric" in kind or "." in kind:  # the import path of a user's class
        raise StateError(f"{args.model} is a {kind} model: it has no rigid bodies", value=kind, bound="another kind")
    estimator: Any = estimator_of(state)
    regressor = estimator.regressor
    finder = ConsistentParameters(regressor.nominal_parameters, bodies_of(regressor.parameter_names))
    parameters = consistent_part(estimator, finder)
    assert parameters is not None
    urdf = find_urdf(args.urdf) if args.urdf else regressor.urdf
    text, notes = with_inertias(urdf, regressor.joints, regressor.sensor, regressor.parameter_names, parameters)
    with replacing_for("OUTPUT", args.output) as file:
        file.write(text)
    as_learned = sum(name.endswith(".m") for name in regressor.parameter_names) - len(notes)
    print(*notes, f"{args.output}: {as_learned} links as learned from {estimator.n_samples} samples", sep="\n")
