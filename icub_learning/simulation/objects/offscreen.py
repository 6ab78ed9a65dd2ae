"""Off-screen OpenGL without a display: which way works here is found out in a child process, as a failure may abort."""

import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import RenderingError

BACKENDS = ("egl", "osmesa")  # in the order they are tried
PACKAGES = "libegl1 libgl1-mesa-dri libopengl0"  # of Debian and Ubuntu, for software rendering
MODULE = "icub_learning.simulation.objects.offscreen"  # this one, run as a program
PROBE_TIMEOUT = 30.0  # [s]


@functools.cache
def find_backend() -> str:
    """Return which of BACKENDS renders here; MUJOCO_GL, where set to one of them, is the only one tried.

    Raises:
        RenderingError: none does; the message names the system packages to install.
    """
    asked = os.environ.get("MUJOCO_GL", "").lower()
    reasons = []
    for backend in (asked,) if asked in BACKENDS else BACKENDS:
        reason = _probe(backend)
        if not reason:
            return backend
        reasons.append(f"{backend}: {reason}")
    as_root = "" if os.geteuid() == 0 else "sudo "
    message = f"no off-screen OpenGL here; install it with: {as_root}apt-get install {PACKAGES} ({'; '.join(reasons)})"
    raise RenderingError(message, name="MUJOCO_GL", value=asked, bound=" or ".join(BACKENDS))


def _probe(backend: str) -> str:
    """Draw one picture in a process of its own; return why that failed, or an empty string."""
    command = [sys.executable, "-m", MODULE, backend]
    environment = {key: value for key, value in os.environ.items() if key != "PYOPENGL_PLATFORM"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_TIMEOUT, env=environment, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return f"no picture within {PROBE_TIMEOUT:g} s"
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1][:200] if lines else f"ended with {done.returncode}"


class OffscreenRenderer:
    """Pictures of a MuJoCo model, without a window.

    The OpenGL context belongs to the thread that makes the renderer: no other may use it.

    Args:
        model: what is shown. Its colours, lights and materials may change between pictures.
        width: of the pictures [px].
        height: of the pictures [px].
        backend: one of BACKENDS; None: what works here.

    Raises:
        RenderingError: there is no off-screen OpenGL here.
    """

    def __init__(self, model: Any, width: int, height: int, backend: str | None = None) -> None:
        self._model, self._size = model, (width, height)
        platform = import_module(f"mujoco.{backend or find_backend()}")
        self._gl = platform.GLContext(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(model, maxgeom=1000)
        self._options, self._camera = mujoco.MjvOption(), mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED

    def upload_texture(self, texture: int) -> None:
        """Take over the changed data of a texture of the model."""
        self._gl.make_current()
        mujoco.mjr_uploadTexture(self._model, self._context, texture)

    def render(self, data: Any, camera: int) -> NDArray[np.uint8]:
        """Return what a camera of the model sees, RGB of shape (height, width, 3)."""
        width, height = self._size
        self._gl.make_current()
        self._camera.fixedcamid = camera
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, data, self._options, None, self._camera, everything, self._scene)
        frame, picture = mujoco.MjrRect(0, 0, width, height), np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_render(frame, self._scene, self._context)
        mujoco.mjr_readPixels(picture, None, frame, self._context)
        return np.ascontiguousarray(picture[::-1])  # OpenGL counts rows from below

    def close(self) -> None:
        """Give the OpenGL context back; nothing can be rendered afterwards."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None


def _draw(backend: str) -> int:
    """Draw one picture; 0 if something is to be seen on it."""
    ball = '<mujoco><worldbody><camera pos="0 0 2"/><geom size="1"/></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(ball)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = OffscreenRenderer(model, 16, 16, backend)
    seen = renderer.render(data, 0).any()
    renderer.close()
    if not seen:
        print("the picture is black", file=sys.stderr)
    return 0 if seen else 1


def _main(backends: Sequence[str]) -> int:
    """Try the backend named, or say which one works here, or what to install."""
    if backends:
        return _draw(backends[0])
    try:
        print(f"icub_learning: off-screen rendering works ({find_backend()})")
    except RenderingError as error:
        print(f"icub_learning: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
