"""Pictures of a shown object, rendered in a process of their own.

A picture takes tens of milliseconds, which a simulation at 1 kHz does not have; a thread would share its interpreter
lock and, where a program asks for one, its real-time priority; and a graphics driver that aborts ends its process.
"""

import contextlib
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import IcubLearningError

MODULE = "icub_learning.simulation.objects.eye_process"  # this one, run as a program
KEPT = 8  # objects that are loaded at most
NICENESS = 5  # pictures may wait for whatever else the machine has to do
GRACE = 2.0  # [s], between closing the connection and killing the process


@dataclass(frozen=True)
class EyeSettings:
    """What ObjectScene takes, without the objects."""

    seed: int = 0
    size: tuple[int, int] = (224, 224)
    folder: str = ""
    side: str = "left"
    field_of_view: float = 45.0


class EyeProcess:
    """Asks for pictures and takes them when they are ready; never waits.

    One request at a time is under way: ask again when its answer has come.

    Args:
        settings: of the scene.

    Attributes:
        busy: True while an answer is awaited.
        ended: True once the process is found to have ended.
    """

    def __init__(self, settings: EyeSettings) -> None:
        ours, theirs = socket.socketpair()
        width, height = settings.size
        # Shared, as a pipe holds less than a picture: taking one would wait for a process that may not have a core.
        pixels = os.memfd_create("picture")
        os.ftruncate(pixels, width * height * 3)
        self._picture = _shared_picture(pixels, settings.size)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, str(theirs.fileno()), str(pixels)],
                pass_fds=[theirs.fileno(), pixels],
                stdin=subprocess.DEVNULL,
            )
        os.close(pixels)
        self._connection = Connection(ours.detach())
        self._connection.send(asdict(settings))
        self.busy = self.ended = False

    def show(self, name: str) -> None:
        """Ask for another object in the hand, "" for none. The answer is "" or why not.

        Loading one takes some 0.4 s; those shown lately are there at once.
        """
        self._ask("show", name)

    def render(self, time: float) -> None:
        """Ask for a picture after `time` [s] of turning the object. The answer is the picture, or why there is none."""
        self._ask("render", time)

    def answer(self) -> NDArray[np.uint8] | str | None:
        """Return the answer to what was asked, or None while there is none yet.

        A picture is valid until the next one is asked for. A process that has ended answers everything with that.
        """
        if not self.busy:
            return None
        if self.ended:
            self.busy = False
            return self._obituary()
        try:
            # Connection.poll would make a selector each time; this is called at control rate.
            if not select.select([self._connection], [], [], 0)[0]:
                return None
            answer: str | None = self._connection.recv()
        except (EOFError, OSError):
            self.ended = True
            return self.answer()
        self.busy = False
        return self._picture if answer is None else answer

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, verb: str, argument: str | float) -> None:
        self.busy = True
        try:
            self._connection.send((verb, argument))
        except OSError:
            self.ended = True

    def _obituary(self) -> str:
        code = self._process.poll()
        return "the process that renders has ended" + ("" if code is None else f" with {code}")


def serve(connection: Connection, pixels: int) -> None:
    """Answer requests until the other side closes the connection.

    Args:
        connection: where settings and then requests come from; None is the answer for a picture that is ready.
        pixels: file descriptor of the memory where pictures go.
    """
    from icub_learning.simulation.objects.scene import ObjectScene  # loads MuJoCo's renderer and readers of meshes

    settings = EyeSettings(**connection.recv())
    picture = _shared_picture(pixels, settings.size)
    scene: ObjectScene | None = None

    def show(name: str) -> str:
        nonlocal scene
        if scene is None or name not in ("", *scene.names):
            # What was shown lately is kept, and back at once; not all of it: a folder may hold thousands.
            lately = [] if scene is None else [*scene.names][1 - KEPT :]
            new = ObjectScene([*lately, name] if name else [], **asdict(settings))
            if scene is not None:
                scene.close()
            scene = new
        scene.show(name)
        return ""

    def render(time: float) -> str | None:
        if scene is None:
            return "nothing has been shown yet"
        picture[:] = scene.render_turning(time)
        return None

    acts: dict[str, Callable[[Any], str | None]] = {"show": show, "render": render}
    with contextlib.suppress(EOFError, OSError):  # who asked has left
        while True:
            verb, argument = connection.recv()
            try:
                answer = acts[verb](argument)
            except IcubLearningError as error:
                answer = str(error)
            connection.send(answer)
    if scene is not None:
        scene.close()


def _shared_picture(pixels: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    width, height = size
    return np.frombuffer(mmap.mmap(pixels, width * height * 3), dtype=np.uint8).reshape(height, width, 3)


def _main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group: the end comes when our parent hangs up
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):  # a parent with real-time priority hands it down
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(NICENESS)
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(_main())
