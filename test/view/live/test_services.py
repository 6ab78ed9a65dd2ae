"""Services are asked by threads of the page, and called by the one that handles messages."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.waiting import PATIENCE
from std_srvs.srv import SetBool, Trigger

from icub_learning.view.live import services
from icub_learning.view.live.services import ServiceCalls
from icub_learning.view.shown.state import Answer
from icub_learning_msgs.srv import TeachObject


@pytest.fixture
def ask(beside, monkeypatch):
    """Ask as a thread of the page does, while messages are handled; return the answer."""
    monkeypatch.setattr(services, "FIND_LIMIT", PATIENCE)
    monkeypatch.setattr(services, "SPARE", PATIENCE)
    calls = ServiceCalls(beside.spun)
    with ThreadPoolExecutor() as page:

        def made(*args, **fields):
            future = page.submit(calls.ask, *args, **fields)
            beside.until(future.done, "an answer", calls.handle)
            return future.result()

        yield made


def test_what_a_service_says_is_the_answer(beside, ask):
    def switch(request, response):
        response.success, response.message = request.data, f"learning: {request.data}"
        return response

    beside.robot.create_service(SetBool, "~/set_learning", switch)
    for wanted in (True, False):
        assert ask("/inverse_dynamics", "set_learning", data=wanted) == Answer(wanted, f"learning: {wanted}")


def test_without_an_answer_the_reason_is_said(beside, ask, monkeypatch):
    assert ask("", "tare") == Answer(False, "there is no node to ask: none is running, or none is chosen")
    with monkeypatch.context() as short:
        short.setattr(services, "FIND_LIMIT", 0.2)
        assert ask("/nobody", "tare") == Answer(False, "there is no service /nobody/tare")
    beside.node("silent").create_service(Trigger, "~/tare", lambda _, response: response)  # which nobody spins
    monkeypatch.setattr(services, "SPARE", 0.2)
    assert ask("/silent", "tare") == Answer(False, "no answer came from /silent/tare")
    monkeypatch.setattr(services, "DISCOVERY_TIME", 0.0)  # no request is sent
    beside.robot.create_service(TeachObject, "~/teach", lambda _, response: response)
    for fields in ({"n_frames": -1}, {"label": 3}):  # the message cannot hold these
        found = ask("/inverse_dynamics", "teach", **fields)
        assert not found.success and found.message
