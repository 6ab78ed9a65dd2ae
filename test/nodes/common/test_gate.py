"""The gate and the managed node: whatever happens in callbacks and transitions, the node goes on and reports it."""

import weakref
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from helpers.node_here import HERE
from helpers.ros_probe import LATCHED, RosProbe
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidHandle
from rclpy.experimental import EventsExecutor
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger
from threadpoolctl import threadpool_info, threadpool_limits

from icub_learning.errors import ParameterError, SampleError
from icub_learning.nodes.common import spinning
from icub_learning.nodes.common.diagnostics import StreamReport, status_of
from icub_learning.nodes.common.spinning import LAST_ANSWERS, LINGER, LifecycleSettings, ManagedNode, run, spin_once
from icub_learning.settings import setting, settings_of


@dataclass(frozen=True)
class MoreSettings:
    """One parameter that is fixed while configured, and one that is not."""

    fixed: float = setting(1.0, "fixed", low=0.0, high=10.0)
    live: float = setting(1.0, "live", low=0.0, high=10.0, live=True)


class Trouble(ManagedNode):
    """A node that raises in the method that `fail_at` names."""

    def __init__(self):
        self.fail_at, self.got, self.released = "", [], 0
        super().__init__("trouble", settings_of(LifecycleSettings, MoreSettings))

    def _configure(self, _settings):
        self.started.callback(self.count)
        self.create_subscription(WrenchStamped, "wrench", self.on_wrench, 10)
        self.publisher = self.create_lifecycle_publisher(WrenchStamped, "~/out", 10)
        self.create_service(SetBool, "~/now", self.on_now)
        self.create_service(Trigger, "~/later", self.on_later)
        made = self.released + 1  # what a node makes at this configure answers, not what it made at the one before
        self.create_service(Trigger, "~/which", lambda _, response: f"configuration {made}")
        self.clock = self.create_lifecycle_publisher(Clock, "/clock", 10)
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
def world(ros_domain, monkeypatch):
    """A node in trouble, and another one that talks to it."""
    monkeypatch.setattr("icub_learning.clients.services.DISCOVERY_TIME", 0.0)  # no other process has to be discovered
    rclpy.init()
    executor, made = EventsExecutor(), [Trouble()]
    executor.add_node(made[0])
    HERE.append(executor)
    with RosProbe("/trouble") as probe:
        made.append(probe)
        yield made
    HERE.remove(executor)
    executor.shutdown()
    made[0].destroy_node()
    made.clear()  # a lifecycle node lives as long as anything refers to it
    rclpy.try_shutdown()


@pytest.fixture
def publisher(world):
    """A publisher of the other node to the one in trouble, which is active."""
    node, probe = world
    assert node.trigger_configure() == node.trigger_activate() and node.active
    made = probe.node.create_publisher(WrenchStamped, "wrench", 10)
    probe.matched(made)
    return made


def test_what_is_unforeseen_in_a_callback_is_counted_and_turns_diagnostics_to_error(world, publisher):
    node, probe = world
    node.fail_at = "wrench"
    publisher.publish(WrenchStamped())
    probe.until(lambda: node.gate.refused["internal_error"] == 1)
    level, message = node.level()
    assert level == DiagnosticStatus.ERROR and "ZeroDivisionError: wrench" in message
    assert node.level()[0] != DiagnosticStatus.ERROR  # an error is reported once
    node.fail_at = ""
    publisher.publish(WrenchStamped())
    probe.until(lambda: len(node.got) == 1)


def test_nodes_of_one_name_in_several_namespaces_differ_in_diagnostics():
    for full, name in (("/left/arm", "left/arm: stream"), ("/arm", "arm: stream")):
        node = SimpleNamespace(get_fully_qualified_name=lambda full=full: full)
        assert status_of(node, "stream", DiagnosticStatus.OK, "", {}).name == name


def test_bytes_that_are_no_message_are_refused(world, publisher):
    node, probe = world
    for data in (b"", b"\x00\x01\x00\x00", b"\x00\x01\x00\x00" + b"\xff" * 40, bytes(3)):
        publisher.publish(data)
    probe.until(lambda: node.gate.refused["malformed"] >= 2)
    message, message.wrench.force.x = WrenchStamped(), -1.0
    publisher.publish(message)
    probe.until(lambda: node.gate.refused["negative"] == 1)
    assert node.gate.received == node.gate.refused.total() and node.level()[0] == DiagnosticStatus.WARN
    assert not node.gate.refused["internal_error"]


@pytest.mark.parametrize("service, kind", [("now", SetBool), ("later", Trigger)])
def test_a_service_that_fails_answers_with_the_reason(world, service, kind):
    node, probe = world
    node.trigger_configure()
    good = probe.call(kind, service)
    assert (good.success, good.message) == (True, "done" if service == "later" else "")
    node.fail_at = f"refuse {service}"
    answer = probe.call(kind, service)
    assert (answer.success, answer.message) == (False, f"{service} is 1, but must be another")
    assert (node.gate.declined, node.gate.last_declined, node.gate.refused["internal_error"]) == (1, answer.message, 0)
    node.fail_at = service
    probe.declined("ZeroDivisionError", kind, service)
    assert node.gate.refused["internal_error"] == 1 and node.gate.pending == 0
    node.trigger_cleanup()
    node.fail_at = ""
    answer = probe.call(kind, service)  # the service stays, and says why it can do nothing
    assert (answer.success, answer.message) == (False, "the node is not configured")
    assert not node.get_publishers_info_by_topic("/clock")
    node.trigger_configure()
    assert probe.call(kind, service).success and probe.call(Trigger, "which").message == "configuration 2"


@pytest.mark.parametrize("fail_at", ["configure", "activate", "deactivate", "refuse configure"])
def test_an_error_in_a_transition_leads_to_a_clean_unconfigured_state(world, fail_at):
    node, probe = world
    node.fail_at, place = fail_at, fail_at.split()[-1]
    for name, number in {"configure": 1, "activate": 3, "deactivate": 4}.items():
        assert probe.change(number) == (name != place)
        if name == place:
            break
    assert probe.state() == "unconfigured" and node.released == 1
    assert bool(node.gate.refused["internal_error"]) == (fail_at == place)
    assert not [name for name, _ in node.get_subscriber_names_and_types_by_node("trouble", "/") if name == "/wrench"]
    node.fail_at = ""
    assert all(probe.change(number) for number in (1, 3, 4, 2))
    assert node.released == 2


def test_parameters_change_where_they_can_and_are_refused_with_a_reason_elsewhere(world):
    node, probe = world
    set_to = probe.set_parameter
    assert set_to("fixed", 2.0).successful and set_to("live", 2.0).successful
    node.trigger_configure()
    assert set_to("live", 3.0).successful
    refused = set_to("fixed", 3.0)
    assert not refused.successful and "clean the node up" in refused.reason and node.get_parameter("fixed").value == 2.0
    assert set_to("fixed", 2.0).successful  # the value that it has already
    node.trigger_activate()
    assert not set_to("fixed", 3.0).successful
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert set_to("fixed", 3.0).successful and not set_to("fixed", 11.0).successful


def test_a_parameter_of_no_type_is_refused(world):
    node, probe = world
    odd = Parameter(name="live", value=ParameterValue(type=99))
    for name, kind in {"set_parameters": SetParameters, "set_parameters_atomically": SetParametersAtomically}.items():
        answer = probe.call(kind, name, parameters=[odd, odd])
        results = answer.results if hasattr(answer, "results") else [answer.result]
        assert all("type 99" in result.reason and not result.successful for result in results)
    assert not node.gate.refused["internal_error"]


def test_others_on_a_topic_that_do_not_fit_are_shown(world):
    node, probe = world
    node.trigger_configure()
    node.trigger_activate()
    subscribe, publish = probe.node.create_subscription, probe.node.create_publisher
    heard, sent = (kind(use_default_callbacks=False) for kind in (SubscriptionEventCallbacks, PublisherEventCallbacks))
    for make, destroy, said in (
        (lambda: subscribe(WrenchStamped, "/trouble/out", print, LATCHED, event_callbacks=heard),
         probe.node.destroy_subscription, "~/out: the QoS of a subscriber does not match: probe: Volatile publisher"),
        (lambda: publish(WrenchStamped, "wrench", qos_profile_sensor_data, event_callbacks=sent),
         probe.node.destroy_publisher, "wrench: the QoS of a publisher does not match: probe: Best effort publisher"),
    ):  # fmt: skip
        made = make()  # without events of its own, which might come when it is destroyed
        probe.until(lambda: node.endpoints.others())
        level, message = node.level()
        assert level == DiagnosticStatus.WARN and said in message
        destroy(made)
        probe.until(lambda: not node.endpoints.others())
    publishers = [probe.node.create_publisher(WrenchStamped, "wrench", 10) for _ in range(2)]
    twin, many = rclpy.create_node("trouble"), "2 publishers on /wrench; 2 nodes are called /trouble"
    probe.until(lambda: node.level()[1] == many)
    node.gate.refuse(SampleError("stamp_zero", "no clock"))
    assert node.level()[1] == f"1 refused; last: stamp_zero: no clock; {many}"
    told = node.report.report(1.0, (DiagnosticStatus.OK, ""), {}, {"late": 2}, "late: by a second").message
    assert told == f"2 refused; last: late: by a second; {many}"  # that there was no clock is no news
    twin.destroy_node()
    probe.node.destroy_publisher(publishers[0])
    probe.until(lambda: not node.endpoints.others())
    assert node.level()[0] != DiagnosticStatus.WARN


@pytest.mark.parametrize(("error", "counted"), [(InvalidHandle, False), (ValueError, True)])
def test_an_event_of_a_topic_that_was_released_meanwhile_is_no_error_and_others_are(error, counted):
    """Events that are queued when a node is shut down belong to endpoints that no longer exist."""
    node = Mock()
    spin_once(Mock(spin_once=Mock(side_effect=error)), node)
    assert node.gate.failed.called == counted


@pytest.mark.parametrize(("pending", "answered_after", "ok", "seconds"), [
    (0, 0, True, 0.0), (2, 0.2, True, 0.2 + LINGER), (1, 9.0, True, LAST_ANSWERS + LINGER), (1, 9.0, False, 0.0),
])  # fmt: skip
def test_a_node_that_ends_answers_what_waits_but_not_for_ever(pending, answered_after, ok, seconds, monkeypatch):
    """The executor's rounds take as long as they may, by a clock that nothing else moves on."""
    clock, node, threads = SimpleNamespace(now=0.0), Mock(gate=Mock(pending=pending), exit_code=1), []

    def wait(timeout_sec):
        clock.now += timeout_sec
        node.gate.pending = pending if clock.now < answered_after else 0
        if clock.now > 5.0:
            pytest.fail("it waits for ever")

    for name, stand_in in {
        "rclpy": Mock(ok=lambda: ok), "time": SimpleNamespace(monotonic=lambda: clock.now), "gc": Mock(),
        "EventsExecutor": lambda: Mock(spin_once=wait), "autostart": lambda _: True, "is_finalized": lambda _: True,
        "return_large_blocks": Mock(),
    }.items():  # fmt: skip
        monkeypatch.setattr(spinning, name, stand_in)
    with threadpool_limits(2, "blas"):  # as of a program that was set up for several
        assert run(lambda: threads.extend(threadpool_info()) or node) == 1
    assert {one["num_threads"] for one in threads if one["user_api"] == "blas"} == {1}
    assert clock.now == pytest.approx(seconds, abs=0.021)


def test_nothing_refers_to_a_node_that_has_run_so_that_its_participant_has_ended(ros_domain):
    def make():
        node = Trouble()
        node.create_timer(0.01, node.trigger_shutdown)
        made.append(weakref.ref(node))
        return node

    made = []
    assert run(make) == 0 and made[0]() is None
