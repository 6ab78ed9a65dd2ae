"""Read a page without a browser: receive all that the server sends, as a browser would, and count it.

usage: python -m benchmarks.page_reader ADDRESS [--silent]

With --silent it opens the page and then reads nothing. A browser that renders on the CPU takes more CPU time than
anything that is measured here; in use it runs on another machine, or renders on a graphics card.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import viser
import websockets.asyncio.client
import websockets.exceptions

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (1.0, 1.0, 1.0),
    "fov": 0.8,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 900,
    "image_width": 1400,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[Any]:
    """Open a page; the server takes it for one as soon as it has its camera."""
    url = address.replace("http://", "ws://")
    protocols = [f"viser-v{viser.__version__}"]
    async with websockets.asyncio.client.connect(url, subprotocols=protocols, max_size=None) as socket:
        await socket.send(msgspec.msgpack.encode(CAMERA))
        yield socket


async def read(address: str, seconds: float | None = None) -> tuple[int, int]:
    """Read for `seconds`, or until the server ends; return the numbers of messages and of bytes."""
    messages = size = 0
    end = None if seconds is None else time.monotonic() + seconds
    async with opened(address) as socket:
        while end is None or time.monotonic() < end:
            try:
                data = await asyncio.wait_for(socket.recv(), None if end is None else end - time.monotonic())
            except (asyncio.TimeoutError, websockets.exceptions.ConnectionClosed):
                break
            messages, size = messages + 1, size + len(data)
    return messages, size


async def main() -> None:
    """Read, or be silent, until this process ends."""
    if "--silent" in sys.argv:
        async with opened(sys.argv[1]) as socket:
            socket.transport.pause_reading()
            await asyncio.Event().wait()
    await read(sys.argv[1])


if __name__ == "__main__":
    asyncio.run(main())
