"""Who may open the page: requests from elsewhere are refused before viser sees them.

A page that serves robots' services must not be opened by whoever reaches its port, nor by another page in the same
browser. viser has no hook for that, so what it passes to websockets' `serve` is wrapped while it starts; a test checks
that this still works.
"""

import hmac
import http
import ipaddress
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookies import CookieError, SimpleCookie
from typing import Any, cast
from urllib.parse import parse_qs, quote, unquote, urlsplit

import websockets.asyncio.server as websockets_server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

LONGEST_NUMBER = 16  # digits; the number of a small picture has fewer
PICTURES = "/thumbnails/"  # path of small pictures, before their number
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
# With this policy the browser contacts no other host, whatever a label or a message from the network says.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self' data: blob:; worker-src 'self' blob: data:; object-src 'none'; frame-src 'none'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


def is_local(host: str) -> bool:
    """Return whether an address to listen on can be reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Decides which requests to a host are answered: those whose Host header names this server (and not a foreign name
    that was made to point here), that come from no page of another origin, and that carry the token, if there is one,
    at first in the address, then in a cookie."""

    def __init__(self, host: str, token: str = "") -> None:
        self.names, self._token = {*LOCAL_NAMES, host}, token

    def refusal(self, headers: Any, path: str) -> str | None:
        """Return why a request is refused, or None."""
        host = headers.get("Host", "")
        name = urlsplit(f"//{host}").hostname or ""
        # With a token any name will do: a robot has several, and the token is what a stranger's page lacks.
        if not self._token and name not in self.names:
            return f"this page is at {' or '.join(sorted(self.names))}, not at {name!r}"
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"pages of {origin} may not use this one"
        if self._token and not (self._in_cookie(headers) or self.in_address(path)):
            return "this address needs its token: http://HOST:PORT/?token=..., as it was printed at the start"
        return None

    def in_address(self, path: str) -> bool:
        return self._is_token(parse_qs(urlsplit(path).query).get("token", [""])[0])

    def cookie(self, headers: Any) -> str:
        """Return the Set-Cookie header that lets the browser come back without the token in its address."""
        return f"{self._cookie_name(headers)}={quote(self._token, safe='')}; HttpOnly; SameSite=Strict; Path=/"

    def _in_cookie(self, headers: Any) -> bool:
        try:
            found = SimpleCookie(headers.get("Cookie", "")).get(self._cookie_name(headers))
        except CookieError:
            return False
        return found is not None and self._is_token(unquote(found.value))

    def _is_token(self, given: str) -> bool:
        return bool(self._token) and hmac.compare_digest(given.encode(), self._token.encode())

    def _cookie_name(self, headers: Any) -> str:
        port = urlsplit(f"//{headers.get('Host', '')}").port  # cookies are shared by the ports of a machine
        return f"icub_learning_view_{port or 80}"


@contextmanager
def guarding(guard: Guard, picture: Callable[[int], bytes | None] = lambda number: None) -> Iterator[None]:
    """Put the guard before each server that websockets starts in this context; `picture` returns a JPEG by number."""
    original = websockets_server.serve

    def serve(*args: Any, process_request: Callable[..., Response | None], **options: Any) -> Any:
        def checked(connection: Any, request: Request) -> Response | None:
            try:
                refusal = guard.refusal(request.headers, request.path)
            except ValueError as error:  # the port or address is invalid
                refusal = str(error)
            if refusal is not None:
                return connection.respond(http.HTTPStatus.FORBIDDEN, refusal + "\n")
            if request.path.startswith(PICTURES):
                return _picture(connection, picture, request.path.removeprefix(PICTURES))
            response = process_request(connection, request)
            if response is not None:
                response.headers["Content-Security-Policy"] = POLICY
                if guard.in_address(request.path):
                    response.headers["Set-Cookie"] = guard.cookie(request.headers)
            return response

        return original(*args, process_request=checked, **options)

    websockets_server.serve = serve  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        websockets_server.serve = original  # type: ignore[misc]


def _picture(connection: Any, picture: Callable[[int], bytes | None], name: str) -> Response:
    """Answer a request for a small picture; it never changes, so that browsers may cache it."""
    content = picture(int(name)) if name.isascii() and name.isdigit() and len(name) < LONGEST_NUMBER else None
    if content is None:
        return cast(Response, connection.respond(http.HTTPStatus.NOT_FOUND, "there is no such picture\n"))
    headers = Headers({
        "Content-Type": "image/jpeg", "Content-Length": str(len(content)),
        "Cache-Control": "private, max-age=86400, immutable", "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
    })  # fmt: skip
    return Response(http.HTTPStatus.OK.value, http.HTTPStatus.OK.phrase, headers, content)
