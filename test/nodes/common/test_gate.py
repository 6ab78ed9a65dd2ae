"""The gate and the managed node: whatever happens inside callbacks and transitions, the node goes on and says so."""

import time
from dataclasses import dataclass

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import SetBool, Trigger

from icub_learning.errors import ParameterError, SampleError
from icub_learning.nodes.common.diagnostics import StreamReport
from icub_learning.nodes.common.spinning import LifecycleSettings, ManagedNode, spin_once
from icub_learning.settings import setting, settings_of

LIMIT = 20.0  # [s]


@dataclass(frozen=True)
class MoreSettings:
    """One parameter that is fixed while configured, and one that is not."""

    fixed: float = setting(1.0, "fixed", low=0.0, high=10.0)
    live: float = setting(1.0, "live", low=0.0, high=10.0, live=True)


class Trouble(ManagedNode):
    """Raises where it is told to."""

    def __init__(self):
        self.fail_at = ""
        self.got = []
        self.released = 0
        super().__init__("trouble", settings_of(LifecycleSettings, MoreSettings))

    def _configure(self, _settings):
        self.started.callback(self.count)
        self.create_subscription(WrenchStamped, "wrench", self.on_wrench, 10)
        self.publisher = self.create_lifecycle_publisher(WrenchStamped, "~/out", 10)
        self.create_service(SetBool, "~/now", self.on_now)
        self.create_service(Trigger, "~/later", self.on_later)
        self.fail("configure")
        self.report = StreamReport(self, "stream", "nothing arrives")

    def _start(self):
        self.fail("activate")

    def _deactivated(self):
        self.fail("deactivate")

    def count(self):
        self.released += 1

    def fail(self, place):
        if self.fail_at == place:
            raise ZeroDivisionError(place)
        if self.fail_at == f"refuse {place}":
            raise ParameterError(place, 1, "another")

    def on_wrench(self, message):
        self.fail("wrench")
        if message.wrench.force.x < 0:
            raise SampleError("negative", "a negative force")
        self.got.append(message)

    def on_now(self, _request, response):
        self.fail("now")
        response.success = True
        return response

    async def on_later(self, _request, _response):
        self.fail("later")
        return "done"

    def level(self):
        status = self.report.report(self.report.rate(1), (DiagnosticStatus.OK, ""), {})
        return status.level, status.message


@pytest.fixture
def world(ros_domain):
    """A node in trouble, another one that talks to it, and a function that spins both until a condition holds."""
    rclpy.init()
    node, other = Trouble(), rclpy.create_node("other")
    executor = EventsExecutor()
    for one in (node, other):
        executor.add_node(one)

    def until(condition, limit=LIMIT):
        deadline = time.monotonic() + limit
        while not condition() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.02)
        return condition()

    def call(kind, name, **fields):
        client = other.create_client(kind, f"/trouble/{name}")
        assert until(client.service_is_ready)
        future = client.call_async(kind.Request(**fields))
        assert until(future.done), f"{name} did not answer"
        other.destroy_client(client)
        return future.result()

    made = [node, other, until, call]
    yield made
    made.clear()  # a lifecycle node lives as long as anything refers to it
    executor.shutdown()
    for one in (node, other):
        one.destroy_node()
    rclpy.try_shutdown()


def change(call, number):
    return call(ChangeState, "change_state", transition=Transition(id=number)).success


def publisher_of(other, until):
    publisher = other.create_publisher(WrenchStamped, "wrench", 10)
    assert until(publisher.get_subscription_count)
    until(lambda: False, 0.3)
    return publisher


def test_what_is_unforeseen_in_a_callback_is_counted_and_turns_diagnostics_to_error(world):
    node, other, until, _ = world
    assert node.trigger_configure() == node.trigger_activate()
    publisher = publisher_of(other, until)
    node.fail_at = "wrench"
    publisher.publish(WrenchStamped())
    assert until(lambda: node.gate.refused["internal_error"] == 1)
    level, message = node.level()
    assert level == DiagnosticStatus.ERROR
    assert "ZeroDivisionError: wrench" in message
    assert node.level()[0] != DiagnosticStatus.ERROR  # until something new happens
    node.fail_at = ""
    publisher.publish(WrenchStamped())
    assert until(lambda: len(node.got) == 1)


def test_bytes_that_are_no_message_are_refused(world):
    node, other, until, _ = world
    assert node.trigger_configure() == node.trigger_activate()
    publisher = publisher_of(other, until)
    for data in (b"", b"\x00\x01\x00\x00", b"\x00\x01\x00\x00" + b"\xff" * 40, bytes(3)):
        publisher.publish(data)
    assert until(lambda: node.gate.refused["malformed"] >= 2)
    message = WrenchStamped()
    message.wrench.force.x = -1.0
    publisher.publish(message)
    assert until(lambda: node.gate.refused["negative"] == 1)
    assert node.gate.received == node.gate.refused.total()
    assert node.level()[0] == DiagnosticStatus.WARN
    assert not node.gate.refused["internal_error"]


@pytest.mark.parametrize("service, kind", [("now", SetBool), ("later", Trigger)])
def test_a_service_that_fails_answers_with_the_reason(world, service, kind):
    node, _, _, call = world
    node.trigger_configure()
    good = call(kind, service)
    assert (good.success, good.message) == (True, "done" if service == "later" else "")
    node.fail_at = f"refuse {service}"
    answer = call(kind, service)
    assert (answer.success, answer.message) == (False, f"{service} is 1, but must be another")
    assert (node.gate.declined, node.gate.last_declined, node.gate.refused["internal_error"]) == (1, answer.message, 0)
    node.fail_at = service
    answer = call(kind, service)
    assert not answer.success
    assert "ZeroDivisionError" in answer.message
    assert node.gate.refused["internal_error"] == 1
    assert node.gate.pending == 0
    node.trigger_cleanup()
    node.fail_at = ""
    answer = call(kind, service)  # the service stays, and says why it can do nothing
    assert (answer.success, answer.message) == (False, "the node is not configured")
    node.trigger_configure()
    assert call(kind, service).success


@pytest.mark.parametrize("fail_at", ["configure", "activate", "deactivate", "refuse configure"])
def test_an_error_in_a_transition_leads_to_a_clean_unconfigured_state(world, fail_at):
    node, _, _, call = world
    numbers = {"configure": 1, "activate": 3, "deactivate": 4}
    node.fail_at, place = fail_at, fail_at.split()[-1]
    for name, number in numbers.items():
        assert change(call, number) == (name != place)
        if name == place:
            break
    assert call(GetState, "get_state").current_state.label == "unconfigured"
    assert node.released == 1
    assert bool(node.gate.refused["internal_error"]) == (fail_at == place)
    assert not [name for name, _ in node.get_subscriber_names_and_types_by_node("trouble", "/") if name == "/wrench"]
    node.fail_at = ""
    for number in (1, 3, 4, 2):
        assert change(call, number)
    assert node.released == 2


def test_parameters_change_where_they_can_and_are_refused_with_a_reason_elsewhere(world):
    node, _, _, call = world

    def set_to(name, value):
        given = Parameter(name=name, value=ParameterValue(type=3, double_value=value))
        return call(SetParameters, "set_parameters", parameters=[given]).results[0]

    assert set_to("fixed", 2.0).successful
    assert set_to("live", 2.0).successful
    node.trigger_configure()
    assert set_to("live", 3.0).successful
    refused = set_to("fixed", 3.0)
    assert not refused.successful
    assert "clean the node up" in refused.reason
    assert node.get_parameter("fixed").value == 2.0
    assert set_to("fixed", 2.0).successful  # what it is already
    node.trigger_activate()
    assert not set_to("fixed", 3.0).successful
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert set_to("fixed", 3.0).successful
    assert not set_to("fixed", 11.0).successful


def test_a_parameter_of_no_type_is_refused(world):
    node, _, _, call = world
    odd = Parameter(name="live", value=ParameterValue(type=99))
    services = {"set_parameters": SetParameters, "set_parameters_atomically": SetParametersAtomically}
    for name, kind in services.items():
        answer = call(kind, name, parameters=[odd, odd])
        results = answer.results if hasattr(answer, "results") else [answer.result]
        assert all("type 99" in result.reason and not result.successful for result in results)
    assert not node.gate.refused["internal_error"]


def test_others_on_a_topic_that_do_not_fit_are_shown(world):
    node, other, until, _ = world
    node.trigger_configure()
    node.trigger_activate()
    picky = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    subscription = other.create_subscription(WrenchStamped, "/trouble/out", print, picky)
    assert until(lambda: node.endpoints.others())
    level, message = node.level()
    assert level == DiagnosticStatus.WARN
    assert "other: Volatile publisher" in message
    other.destroy_subscription(subscription)
    assert until(lambda: not node.endpoints.others())
    publishers = [other.create_publisher(WrenchStamped, "wrench", 10) for _ in range(2)]
    assert until(lambda: node.count_publishers("/wrench") == 2)
    assert "2 publishers on /wrench" in node.level()[1]
    other.destroy_publisher(publishers[0])
    assert until(lambda: node.count_publishers("/wrench") == 1)
    assert node.level()[0] != DiagnosticStatus.WARN


def test_an_event_of_a_topic_that_was_released_meanwhile_is_no_error(world):
    """What was queued when a node is shut down belongs to endpoints that exist no more."""
    node, other, _, _ = world

    class Late:
        """An executor that comes to the event of a publisher that has been destroyed."""

        def spin_once(self, timeout_sec):
            with gone.handle:
                raise AssertionError(f"the publisher still exists after {timeout_sec} s")

    gone = other.create_publisher(WrenchStamped, "gone", 10)
    other.destroy_publisher(gone)
    spin_once(Late(), node, 0.0)
    assert node.gate.refused["internal_error"] == 0
