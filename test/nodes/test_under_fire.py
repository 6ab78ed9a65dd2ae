"""All nodes under fire: random messages and requests, and transitions at any moment while they arrive."""

import random
import time

import pytest
from helpers.node_settings import PARAMETERS
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState

from benchmarks.endurance.messages import SUBJECTS, Fuzz, kind_of
from benchmarks.endurance.probe import Probe
from benchmarks.endurance.random_messages import RandomMessages
from icub_learning.errors import IcubLearningError

pytestmark = pytest.mark.ros
SUBJECT_OF = {subject.name: subject for subject in SUBJECTS}
TRANSITIONS = {"configure": 1, "cleanup": 2, "activate": 3, "deactivate": 4}
AFTER = {  # state after a transition, from a state in which it is possible
    ("unconfigured", "configure"): "inactive",
    ("inactive", "cleanup"): "unconfigured",
    ("inactive", "activate"): "active",
    ("active", "deactivate"): "inactive",
}


def test_no_node_is_forgotten():
    assert set(SUBJECT_OF) == set(PARAMETERS)


@pytest.mark.parametrize("name", SUBJECT_OF)
def test_random_messages_and_requests(ros_domain, tmp_path, name):
    """The faster variant of `python -m benchmarks.endurance messages`."""
    found = Fuzz(SUBJECT_OF[name], tmp_path, tmp_path / "node.log", 1).run(2000, 250)
    assert all(found["promises"].values()), found


@pytest.mark.parametrize("name", SUBJECT_OF)
def test_transitions_at_any_moment(ros_domain, tmp_path, start_node, name):
    subject = SUBJECT_OF[name]
    node = start_node(name, **subject.parameters)
    rng = random.Random(2)
    made = RandomMessages(rng)
    with Probe() as probe:
        change = probe.services.find(ChangeState, f"/{name}/change_state", 60.0)
        state = probe.services.find(GetState, f"/{name}/get_state", 60.0)

        def label():
            future = state.call_async(GetState.Request())
            assert probe.until(future.done, 20.0)
            return future.result().current_state.label

        assert probe.until(lambda: label() == "active", 30.0)
        found = probe.node.get_subscriber_names_and_types_by_node(name, "/")
        topics = [(topic, kind_of(kinds[0])) for topic, kinds in found if topic not in ("/parameter_events", "/clock")]
        publishers = [probe.node.create_publisher(kind, topic, 10) for topic, kind in topics]
        services = [
            (kind_of(kinds[0]), probe.services.find(kind_of(kinds[0]), service))
            for service, kinds in probe.node.get_service_names_and_types_by_node(name, "/")
            if service.startswith(f"/{name}/") and not service.endswith(("/change_state", "_parameters", "_atomically"))
        ]
        outputs = silence(probe, name)
        now, waiting, done = "active", [], 0
        for _ in range(60):
            for publisher in publishers:
                for _ in range(3):
                    publisher.publish(made.message(publisher.msg_type))
            kind, client = rng.choice(services)
            request = made.message(kind.Request)
            for field in ("timeout", "seconds"):  # of lessons, which last as long as their request says
                if hasattr(request, field):
                    setattr(request, field, 0.2)
            waiting.append(client.call_async(request))
            wish = rng.choice(list(TRANSITIONS))
            asked = change.call_async(ChangeState.Request(transition=Transition(id=TRANSITIONS[wish])))
            for publisher in publishers:  # while it changes
                publisher.publish(made.message(publisher.msg_type))
            assert probe.until(asked.done, 30.0), f"{wish} was not answered"
            expected = AFTER.get((now, wish))
            assert asked.result().success == (expected is not None), (now, wish)
            now = expected or now
            done += expected is not None
            assert label() == now
        assert done > 10
        assert probe.until(lambda: all(future.done() for future in waiting), 30.0), "a request was not answered"
        while now != "inactive":
            wish = {"active": "deactivate", "unconfigured": "configure"}[now]
            assert probe.transition(name, wish)
            now = AFTER[now, wish]
        probe.spin(0.5)
        outputs.clear()
        for publisher in publishers:
            publisher.publish(made.message(publisher.msg_type))
        probe.spin(1.0)
        assert not outputs, "published while inactive"
    assert node.running
    assert node.stop() == 0
    assert "internal_error" not in node.output
    assert "Traceback" not in node.output


def silence(probe, name):
    """Return a list to which everything is added that the node publishes, but for its diagnostics and transitions."""
    got = []
    others = ("/diagnostics", "/rosout", "/parameter_events", f"/{name}/transition_event")
    for topic, kinds in probe.node.get_publisher_names_and_types_by_node(name, "/"):
        if topic not in others:
            probe.node.create_subscription(kind_of(kinds[0]), topic, lambda message, topic=topic: got.append(topic), 10)
    return got


def test_a_lesson_under_way_is_answered_when_the_process_is_asked_to_end(ros_domain, tmp_path, start_node):
    import signal

    from icub_learning.models import read_model
    from icub_learning_msgs.msg import FeatureVector
    from icub_learning_msgs.srv import TeachObject

    node = start_node("object_recognition", model_file="objects", autosave_period=0.3)
    with Probe() as probe:
        publisher = probe.node.create_publisher(FeatureVector, "features", 10)
        teach = {"kind": TeachObject, "service": "/object_recognition/teach"}
        first = probe.services.ask(**teach, label="mug", n_frames=5, timeout=30.0)
        deadline = time.monotonic() + 30.0
        while not first.done() and time.monotonic() < deadline:
            publisher.publish(FeatureVector(source="a/b", values=[1.0, 2.0, float(len(teach))]))
            probe.spin(0.02)
        assert first.result().success
        second = probe.services.ask(**teach, label="duck", n_frames=1000, timeout=30.0)
        for _ in range(40):
            publisher.publish(FeatureVector(source="a/b", values=[3.0, 2.0, 1.0]))
            probe.spin(0.02)
        node._popen.send_signal(signal.SIGTERM)
        assert probe.until(second.done, 20.0), "the lesson was never answered"
        assert not second.result().success
        assert "duck" in second.result().message
    assert node.wait(20.0) == 0
    assert read_model(tmp_path / "objects.npz")[1].statistics == {"objects": 1, "examples": 5}

    again = start_node("object_recognition", model_file="objects")
    again.wait_for("1 objects are known")
    with Probe() as probe:
        publisher = probe.node.create_publisher(FeatureVector, "features", 10)
        probe.until(publisher.get_subscription_count, 20.0)
        probe.spin(0.5)
        publisher.publish(FeatureVector(source="another/network", values=[3.0, 2.0, 1.0]))
        assert probe.until(
            lambda: any("another/network" in values["last refusal"] for values in probe.diagnostics.values()), 10.0
        )
    assert again.stop() == 0


def test_a_service_that_does_not_exist_is_an_error_of_the_caller(ros_domain):
    with Probe() as probe, pytest.raises(IcubLearningError):
        probe.services.find(GetState, "/nobody/get_state", 0.2)
