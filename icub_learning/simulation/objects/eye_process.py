"""Rendering of the shown object in a separate process.

An image takes tens of milliseconds, too long for a simulation at 1 kHz. A thread would share the interpreter lock and
possibly a real-time priority with the simulation, and a graphics driver that aborts would end it.
"""

import contextlib
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import IcubLearningError

if TYPE_CHECKING:  # loads MuJoCo's renderer and readers of meshes
    from icub_learning.simulation.objects.scene import ObjectScene

MAX_LOADED = 8  # largest number of objects that stay loaded
NICENESS = 5  # rendering has a lower priority than other processes
GRACE_PERIOD = 2.0  # [s] from closing the connection to killing the process


class EyeProcess:
    """Requests images from the rendering process and receives them when they are ready; never blocks.

    Only one request may be pending (`busy`). `ended` says whether the process has been found to have ended. `settings`
    are arguments of ObjectScene except `objects`; they include `size`.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        ours, theirs = socket.socketpair()
        width, height = settings["size"]
        # Shared memory: a pipe holds less than an image, so reading one could wait for the other process.
        pixels = os.memfd_create("picture")
        os.ftruncate(pixels, width * height * 3)
        self._picture = _shared_picture(pixels, settings["size"])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno()), str(pixels)],
                pass_fds=[theirs.fileno(), pixels], stdin=subprocess.DEVNULL,
            )  # fmt: skip
        os.close(pixels)
        self._connection = Connection(ours.detach())
        self._connection.send(dict(settings))
        self.busy = self.ended = False

    def show(self, name: str) -> None:
        """Request another object in the hand, "" for none. The answer is "", or the reason for a failure."""
        self._request("show", name)

    def render(self, time: float) -> None:
        """Request an image after turning the object for `time` [s]. The answer is the image, or why it failed."""
        self._request("render", time)

    def answer(self) -> NDArray[np.uint8] | str | None:
        """Return the answer to the pending request, or None if there is none yet. An image is valid until the next one
        is requested. After the process has ended, this is the answer."""
        if not self.busy:
            return None
        if self.ended:
            self.busy, code = False, self._process.poll()
            return "the rendering process has ended" + ("" if code is None else f" with {code}")
        try:
            # Connection.poll would create a selector at each call, and calls come at control rate.
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
            self._process.wait(GRACE_PERIOD)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _request(self, verb: str, argument: str | float) -> None:
        self.busy = True
        try:
            self._connection.send((verb, argument))
        except OSError:
            self.ended = True


def serve(connection: Connection, pixels: int) -> None:
    """Answer requests until the other side, which sends settings first, closes the connection. The answer None means
    that an image is ready in the shared memory of the file descriptor `pixels`."""
    settings = connection.recv()
    picture = _shared_picture(pixels, settings["size"])
    scene: ObjectScene | None = None
    with contextlib.suppress(EOFError, OSError):  # the other side has closed
        while True:
            verb, argument = connection.recv()
            answer: str | None = ""
            try:
                if verb == "show":
                    scene = _shown(scene, argument, settings)
                elif scene is None:
                    answer = "nothing has been shown yet"
                else:
                    picture[:], answer = scene.render_turning(argument), None
            except IcubLearningError as error:
                answer = str(error)
            connection.send(answer)
    if scene is not None:
        scene.close()


def _shown(scene: "ObjectScene | None", name: str, settings: Mapping[str, Any]) -> "ObjectScene":
    """Return a scene with this object in the hand; objects shown last stay loaded, as a folder may hold thousands."""
    from icub_learning.simulation.objects.scene import ObjectScene

    if scene is None or name not in ("", *scene.names):
        recent = [] if scene is None else [*scene.names][1 - MAX_LOADED :]
        old, scene = scene, ObjectScene([*recent, name] if name else [], **settings)
        if old is not None:
            old.close()
    scene.show(name)
    return scene


def _shared_picture(pixels: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    width, height = size
    return np.frombuffer(mmap.mmap(pixels, width * height * 3), dtype=np.uint8).reshape(height, width, 3)


def _main() -> int:
    # Sent to the whole group; this process ends with the connection.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):  # a real-time priority is inherited
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(NICENESS)
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(_main())
