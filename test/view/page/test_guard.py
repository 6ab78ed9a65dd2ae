"""Who may open the page, asked of a running server by plain HTTP and WebSockets."""

import http.client
from contextlib import closing

import numpy as np
import pytest
import websockets.exceptions
import websockets.sync.client
from helpers.waiting import PATIENCE

from icub_learning.recognition.recognizer import Recognition
from icub_learning.view.page.guard import Guard, is_local
from icub_learning.view.page.page import Page
from icub_learning.view.shown.state import State, Watcher

TOKEN = "x" * 24


@pytest.fixture(params=["", TOKEN])
def page(request):
    with closing(Page("127.0.0.1", 0, request.param)) as made:
        yield made


def port_of(page):
    return int(page.address.split(":")[2].partition("/")[0])


def get(page, path="/", **headers):
    """Return status and headers of the answer to a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(page), timeout=PATIENCE)
    connection.request("GET", path, headers={"Host": f"127.0.0.1:{port_of(page)}", **headers})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


def opens(page, **headers):
    """Return whether a WebSocket opens."""
    url, options = f"ws://127.0.0.1:{port_of(page)}", {"subprotocols": ["viser-v1.1.1"]}
    try:
        with websockets.sync.client.connect(url, additional_headers=headers, **options):
            return True
    except websockets.exceptions.InvalidStatus as error:
        assert error.response.status_code == 403
        return False


def test_a_page_and_small_pictures_are_served_to_this_machine_with_a_policy_against_other_hosts(page):
    status, headers = get(page, page.address.partition(str(port_of(page)))[2])
    policy = headers["Content-Security-Policy"]
    assert status == 200 and "default-src 'self'" in policy and "http" not in policy and "*" not in policy
    eye = Watcher({"mug": 1}, camera="/image")
    for second in (0, 1):
        eye.recognized = Recognition(second * 10**9, "mug", "mug", 1.0, 1.0, ["mug"], np.ones(1))
        page.thumbnails.update(State(recognizers={"a": eye}, images={"/image": np.zeros((9, 12, 3), np.uint8)}))
    number, query, given = page.thumbnails.number("a", "mug"), page.address.partition("?")[2], {}
    if query:
        given["Cookie"] = get(page, f"/?{query}")[1]["Set-Cookie"].partition(";")[0]
        assert get(page, f"/thumbnails/{number}")[0] == 403
    status, headers = get(page, f"/thumbnails/{number}", **given)
    said = {name: headers.get_all(name) for name in ("Content-Length", "Content-Type")}
    assert said == {"Content-Length": [str(len(page.thumbnails.picture(number)))], "Content-Type": ["image/jpeg"]}
    assert status == 200 and "default-src 'self'" in headers["Content-Security-Policy"]
    for name in (number + 1, "", "x", "1" * 30, "../../etc/passwd"):
        assert get(page, f"/thumbnails/{name}", **given)[0] == 404


def test_the_token_is_asked_for_and_remembered_by_a_cookie():
    with closing(Page("127.0.0.1", 0, TOKEN)) as page:
        assert get(page)[0] == 403 and get(page, f"/?token={TOKEN[1:]}")[0] == 403 and not opens(page)
        status, headers = get(page, f"/?token={TOKEN}")
        cookie = headers["Set-Cookie"]
        assert status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert cookie.startswith(f"icub_learning_view_{port_of(page)}={TOKEN}; ")
        assert opens(page, Cookie=cookie.partition(";")[0])
        assert get(page, Cookie=f"icub_learning_view_{port_of(page)}=wrong")[0] == 403
        assert get(page, Host="localhost:99999", Cookie=cookie.partition(";")[0])[0] == 403  # there is no such port
        assert get(page, Cookie="a@b=c")[0] == 403  # the name of no cookie
    with closing(Page("127.0.0.1", 0, "pass+wörd &%;")) as page:  # the address as printed opens
        status, headers = get(page, "/" + page.address.rpartition("/")[2])
        assert status == 200 and opens(page, Cookie=headers["Set-Cookie"].partition(";")[0])


def test_other_names_and_pages_of_others_are_refused_and_addresses_of_this_machine_alone_need_no_token():
    with closing(Page("127.0.0.1", 0)) as page:
        assert opens(page)
        own, other = (f"http://127.0.0.1:{port_of(page) + more}" for more in (0, 1))
        assert [opens(page, Origin=one) for one in (own, other, "http://elsewhere.example")] == [True, False, False]
        assert get(page, Host="elsewhere.example")[0] == 403  # a name that was made to point here
        assert get(page, Host="localhost:99999")[0] == 200
    hosts = "127.0.0.1", "localhost", "::1", "0.0.0.0", "192.168.1.2", "robot"
    assert [host for host in hosts if is_local(host)] == ["127.0.0.1", "localhost", "::1"]
    assert Guard("robot", TOKEN).cookie({"Host": "robot"}).startswith("icub_learning_view_80=")
    assert Guard("192.168.1.2", TOKEN).refusal({"Host": "robot:80"}, f"/?token={TOKEN}") is None
