"""Fixtures of all tests: one BLAS thread, real recordings, a ROS domain for each test, processes that are stopped."""

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported; child processes inherit it
os.environ.setdefault("MPLBACKEND", "Agg")
_data = Path(__file__).resolve().parents[2] / "shared" / "data"
if _data.is_dir():  # the default folder, beside the checkout
    os.environ.setdefault("ICUB_LEARNING_DATA", str(_data))

import pytest
from helpers import records
from helpers.own_package import write_own_package
from helpers.processes import Process, own_sockets, shy_node_command
from hypothesis import settings as hypothesis_settings
from threadpoolctl import threadpool_limits

from icub_learning.clients.processes import RosDomain

# No deadline: a busy machine is slow, which is no failure; times are compared in benchmarks. Each run has the same
# examples, so that a change causes each new failure; `make test-all` searches others (HYPOTHESIS_PROFILE=search).
hypothesis_settings.register_profile("icub_learning", deadline=None, derandomize=True)
hypothesis_settings.register_profile("search", deadline=None, print_blob=True)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "icub_learning"))

CHECKOUT = Path(__file__).resolve().parents[1]

WITH_MODELS = {"inverse_dynamics", "object_recognition", "object_detection"}

# Tests that `make check` leaves out in addition to live tests: most of them take more than three tenths of a second.
# Of the nearly identical tests of one function ("NAME every N") it leaves out all but each N-th.
_long_tests = Path(__file__).with_name("long_tests.txt").read_text().splitlines()
LONG = dict(line.partition(" every ")[::2] for line in _long_tests)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of workers: one per processor, and one more for live tests (-n auto), which mostly wait."""
    processors = min(len(os.sched_getaffinity(0)), 4) if hasattr(os, "sched_getaffinity") else 2
    return processors + (config.option.numprocesses == "auto")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they use and where they lie, and set their order and the worker that runs them.
    The group "alone" is for tests that need much of the machine: one worker runs them, one after the other, first.
    Other live tests go wherever a worker is free; they mostly wait, so they are spread evenly among those that compute.
    The tests of each other file stay in one worker, so that they share fixtures."""
    alone_first, waiting, files, number = [], [], {}, Counter[str]()
    for item in items:
        file = item.path.relative_to(CHECKOUT / "test")
        live = item.get_closest_marker("ros") or "start_process" in getattr(item, "fixturenames", ())
        if live:
            item.add_marker("ros")
        name = item.nodeid.partition("[")[0]
        number[name] += 1
        every = LONG.get(name)
        if item.nodeid in LONG or every == "" or (every and number[name] % int(every)):
            item.add_marker("long")
        if item.get_closest_marker("xdist_group"):
            alone_first.append(item)
        elif live:
            waiting.append(item)
        else:
            item.add_marker(pytest.mark.xdist_group(str(file)))
            files.setdefault(file, []).append(item)
    kinds = list(files.values()), [[item] for item in waiting]
    places = [((n + 0.5) / len(groups), group) for groups in kinds for n, group in enumerate(groups)]  # evenly apart
    items[:] = alone_first + [item for _, group in sorted(places, key=lambda one: one[0]) for item in group]


def pytest_collection_finish() -> None:
    """Exclude objects older than the first test from garbage collections, which are quick then."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread() -> Iterator[None]:
    """Pin BLAS to one thread, also where it was loaded before this file could set the environment."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds setup.py."""
    return CHECKOUT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real recordings, $ICUB_LEARNING_DATA; skips where there is none."""
    folder = os.environ.get("ICUB_LEARNING_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no recordings: set ICUB_LEARNING_DATA")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def imitated_processor() -> None:
    """Use the version $VERSION of all compiled modules, if it is set, for tools/record."""
    for name, module in list(sys.modules.items()):
        if "VERSION" in os.environ and name.startswith("icub_learning.") and hasattr(module, "use"):
            module.use(os.environ["VERSION"])


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compare the pictures that a test saves with their record."""
    with records.drawn() as shown:
        yield
    records.check(str(request.path), request.node.name, shown)


@pytest.fixture(scope="session")
def renderer() -> None:
    """Skip where this machine cannot render; set-up fetches the objects and names the packages for OpenGL."""
    from icub_learning.errors import ObjectError, RenderingError
    from icub_learning.simulation import find_objects
    from icub_learning.simulation.objects import offscreen

    try:
        offscreen.find_backend()
        find_objects()
    except (RenderingError, ObjectError) as error:
        pytest.skip(str(error))


@pytest.fixture
def own_package(checkout, tmp_path, monkeypatch):
    return write_own_package(checkout, tmp_path / "elsewhere", monkeypatch)


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A ROS_DOMAIN_ID that no other program on this machine holds, set for this process and its children."""
    with RosDomain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain.number))
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        yield domain.number
        gc.collect()  # a participant ends with the last reference to its objects, which may be in a cycle
        assert not own_sockets(domain.ports), "the test left nodes, which a later test in this domain would find"


@pytest.fixture
def start_process(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `command` (list of strings) as a Process that is stopped at the end of the test."""
    started: list[Process] = []

    def start(*command: str) -> Process:
        started.append(Process(list(command), tmp_path / f"process_{len(started)}.log"))
        return started[-1]

    yield start
    for process in started:
        process.stop()
        print(process.output)  # pytest shows it where the test failed


@pytest.fixture
def start_node(ros_domain: int, start_process: Callable[..., Process], tmp_path: Path) -> Callable[..., Process]:
    """Start the node of module icub_learning.nodes.NAME in the ROS domain of this test.
    Call it as start_node("inverse_dynamics", output="wrench", ...): keywords are ROS parameters;
    `remap=["wrench:=/ft"]` renames topics. Models are kept in the test's `tmp_path`."""

    return lambda *names, **options: start_process(*_command(tmp_path, *names, **options))


@pytest.fixture
def node_here(ros_domain: int, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable]:
    """Make one node, as `start_node` does, in the test's own process: far quicker, so that `make check` runs it too."""
    from helpers.node_here import HERE, NodeHere

    monkeypatch.setattr("icub_learning.clients.services.DISCOVERY_TIME", 0.0)  # no other process has to be discovered
    yield lambda name, *remap, **parameters: NodeHere(name, _command(tmp_path, name, *remap, **parameters)[3:], capfd)
    for node in list(HERE):
        node.stop()


@pytest.fixture
def started(node_here: Callable[..., Any]) -> Callable[..., Any]:
    """Start the node of a probe in this process: a context with the connected probe, whose node must end cleanly. Call
    it as started(NodeProbe(RIGHT_ARM), learning_share=1.0, ...); keywords are ROS parameters."""

    @contextmanager
    def start(probe: Any, *remap: list[str], **parameters: object) -> Iterator[Any]:
        probe.under_test = node_here(probe.node_name[1:], *remap, **parameters)
        with probe:
            probe.connect()
            yield probe
        node = probe.under_test
        assert node.running and node.stop() == probe.exit_code and "Traceback" not in node.output

    return start


@pytest.fixture(scope="session")
def regressor() -> Any:
    """The right arm of an iCub, with its force/torque sensor."""
    from helpers.robots import RIGHT_ARM

    from icub_learning.dynamics import WrenchRegressor
    from icub_learning.robots import find_urdf

    return WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM, "r_arm_ft_sensor")


def _command(folder: Path, name: str, remap: list[str] | None = None, **parameters: object) -> list[str]:
    kept = {"models_folder": str(folder)} if name in WITH_MODELS else {}  # keeps models out of the user's folder
    rules = dict(rule.split(":=") for rule in remap or [])
    return shy_node_command(name, parameters={**kept, **parameters}, remappings=rules)
