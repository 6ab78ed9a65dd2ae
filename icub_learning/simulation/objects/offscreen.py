"""Off-screen rendering with OpenGL; back-ends are tried in a child process, because a failure may abort it."""

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

BACKENDS = ("egl", "osmesa")  # back-ends of OpenGL in the order in which they are tried
PACKAGES = "libegl1 libgl1-mesa-dri libopengl0"  # packages for software rendering on Debian and Ubuntu
MODULE = "icub_learning.simulation.objects.offscreen"  # this module, run as a program
PROBE_TIMEOUT = 30.0  # [s] longest time until the first image
LATE = f"no image within {PROBE_TIMEOUT:g} s"  # reason for a failure that does not tell what is installed


@functools.cache
def find_backend() -> str:
    """Return the first of BACKENDS that works on this machine; if MUJOCO_GL names one of them, only this one is tried.

    Raises:
        RenderingError: none works; the message names the system packages to install or, where one did not answer in
            time, says that a busy machine may be the reason. A further call tries again.
    """
    asked = os.environ.get("MUJOCO_GL", "").lower()
    reasons = {}
    for backend in (asked,) if asked in BACKENDS else BACKENDS:
        reasons[backend] = _probe(backend)
        if not reasons[backend]:
            return backend
    install = f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install {PACKAGES}"
    if LATE in reasons.values():
        message = (
            "off-screen OpenGL did not answer in time, though it may be installed: try again when the machine is less"
            f" busy, and if that does not help: {install}"
        )
    else:
        message = f"no off-screen OpenGL here; install it with: {install}"
    found = "; ".join(f"{backend}: {reason}" for backend, reason in reasons.items())
    raise RenderingError(f"{message} ({found})", name="MUJOCO_GL", value=asked, bound=" or ".join(BACKENDS))


def _probe(backend: str) -> str:
    """Render one image in a child process; return the reason for a failure, or an empty string."""
    command = [sys.executable, "-m", MODULE, backend]
    environment = {key: value for key, value in os.environ.items() if key != "PYOPENGL_PLATFORM"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_TIMEOUT, env=environment, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return LATE
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1][:200] if lines else f"ended with {done.returncode}"


class OffscreenRenderer:
    """Renders images (width, height [px]) of a MuJoCo model, whose appearance may change, without a window.

    The OpenGL context belongs to the thread that creates the renderer; no other thread may use it. `backend` is one of
    BACKENDS; None: the first that works. Raises RenderingError: off-screen OpenGL is not available.
    """

    def __init__(self, model: Any, width: int, height: int, backend: str | None = None) -> None:
        self._model, self._size = model, (width, height)
        self._gl = import_module(f"mujoco.{backend or find_backend()}").GLContext(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(model, maxgeom=1000)
        self._options, self._camera = mujoco.MjvOption(), mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED

    def upload_texture(self, texture: int) -> None:
        """Load the changed data of a texture of the model."""
        self._gl.make_current()
        mujoco.mjr_uploadTexture(self._model, self._context, texture)

    def render(self, data: Any, camera: int) -> NDArray[np.uint8]:
        """Return the image of a camera of the model, RGB (height, width, 3)."""
        width, height = self._size
        self._gl.make_current()
        self._camera.fixedcamid = camera
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, data, self._options, None, self._camera, everything, self._scene)
        frame, picture = mujoco.MjrRect(0, 0, width, height), np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_render(frame, self._scene, self._context)
        mujoco.mjr_readPixels(picture, None, frame, self._context)
        return np.ascontiguousarray(picture[::-1])  # OpenGL starts with the bottom row

    def segment(self, data: Any, camera: int) -> NDArray[np.int32]:
        """Return for each pixel (height, width) the index of the geom of the model that is seen there, -1 for none."""
        flags = self._scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 1
        try:
            colours = self.render(data, camera).astype(np.int32)
        finally:
            flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 0
        numbers = colours[:, :, 0] + (colours[:, :, 1] << 8) + (colours[:, :, 2] << 16)
        geoms = np.full(self._scene.ngeom + 1, -1, dtype=np.int32)
        for index in range(self._scene.ngeom):
            geom = self._scene.geoms[index]
            if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                geoms[geom.segid + 1] = geom.objid
        return np.asarray(geoms[np.minimum(numbers, self._scene.ngeom)])

    def close(self) -> None:
        """Release the OpenGL context; nothing can be rendered afterwards."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None


def _main(backends: Sequence[str]) -> int:
    """Render one image, which is not black, with the named backend, or print which one works or what to install."""
    if backends:
        ball = '<mujoco><worldbody><camera pos="0 0 2"/><geom size="1"/></worldbody></mujoco>'
        model = mujoco.MjModel.from_xml_string(ball)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        renderer = OffscreenRenderer(model, 16, 16, backends[0])
        if renderer.render(data, 0).any():
            renderer.close()
            return 0
        print("the image is black", file=sys.stderr)
        return 1
    try:
        print(f"icub_learning: off-screen rendering works ({find_backend()})")
    except RenderingError as error:
        print(f"icub_learning: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
