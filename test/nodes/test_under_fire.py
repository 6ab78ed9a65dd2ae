"""All nodes under fire: random messages and requests, and transitions at any moment while they arrive."""

import random
import signal

import pytest
from helpers.node_settings import PARAMETERS
from helpers.processes import Process, shy_node_command
from helpers.ros_probe import RosProbe, interface
from helpers.waiting import PATIENCE
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

from benchmarks.endurance import waiting_requests
from benchmarks.endurance.children import resident
from benchmarks.endurance.messages import SUBJECTS, Fuzz
from benchmarks.endurance.random_messages import RandomMessages

pytestmark, SUBJECT_OF = pytest.mark.ros, {subject.name: subject for subject in SUBJECTS}
TRANSITIONS = {  # the states before and after each transition, by its number
    Transition.TRANSITION_CONFIGURE: ("unconfigured", "inactive"),
    Transition.TRANSITION_CLEANUP: ("inactive", "unconfigured"), Transition.TRANSITION_ACTIVATE: ("inactive", "active"),
    Transition.TRANSITION_DEACTIVATE: ("active", "inactive"),
}  # fmt: skip
MESSAGES = dict.fromkeys(SUBJECT_OF, 800) | {"icub_simulation": 150, "gazebo_controller": 150}  # trajectories are long
OTHERS = ("/diagnostics", "/rosout", "/parameter_events", "/clock")  # topics of every node


class Started(Process):
    """A node as `Fuzz` starts it."""

    def __init__(self, module, log, name, **parameters):
        super().__init__(shy_node_command(module, name, parameters), log)

    def end(self):
        return self.stop(signal.SIGTERM)

    def memory(self):
        return resident(self.pid)


def test_no_node_is_forgotten():
    assert set(SUBJECT_OF) == set(PARAMETERS)


@pytest.mark.parametrize("name", SUBJECT_OF)
def test_random_messages_and_requests(ros_domain, tmp_path, monkeypatch, name):
    """The faster variant of `python -m benchmarks.endurance messages`."""
    monkeypatch.setattr(waiting_requests, "LONGEST_ANSWER", PATIENCE)
    found = Fuzz(SUBJECT_OF[name], tmp_path, tmp_path / "node.log", 1, Started).run(MESSAGES[name], 250)
    assert all(found["promises"].values()), found


@pytest.mark.parametrize("name", SUBJECT_OF)
def test_transitions_at_any_moment(start_node, name):
    patience = {"answer_timeout": 1.0} if "answer_timeout" in [one.name for one in PARAMETERS[name]] else {}
    node, rng = start_node(name, **SUBJECT_OF[name].parameters, **patience), random.Random(2)
    made = RandomMessages(rng)
    with RosProbe(f"/{name}") as probe:
        probe.until(lambda: probe.state() == "active", "the active node")
        probe.until(lambda: (name, "/") in probe.node.get_node_names_and_namespaces(), "its name")
        heard = [one for one in probe.node.get_subscriber_names_and_types_by_node(name, "/") if one[0] not in OTHERS]
        publishers = [probe.node.create_publisher(interface(kinds[0]), topic, 10) for topic, kinds in heard]
        own = ("_parameters", "_atomically")  # ends of the names of rclpy's own services
        kinds = {service: kind for service, kind in probe.offered().items() if not service.endswith(own)}
        clients, outputs = probe.services.find_all(kinds, PATIENCE), []
        for topic, types in probe.node.get_publisher_names_and_types_by_node(name, "/"):
            if topic not in (*OTHERS, f"/{name}/transition_event"):
                kind = interface(types[0])
                probe.node.create_subscription(kind, topic, lambda _, topic=topic: outputs.append(topic), 10)
        assert kinds.pop(f"/{name}/change_state") is ChangeState

        def publish(count=1):
            for publisher in publishers:
                for _ in range(count):
                    publisher.publish(made.message(publisher.msg_type))

        now, waiting, done = "active", [], 0
        while done < 12:
            publish(2)
            service, kind = rng.choice(list(kinds.items()))
            request = made.message(kind.Request)
            for field in ("timeout", "seconds"):  # lessons last as long as their request says
                if hasattr(request, field):
                    setattr(request, field, 0.2)
            waiting.append(clients[service].call_async(request))
            number, (before, after) = rng.choice(list(TRANSITIONS.items()))
            asked = probe.ask(ChangeState, "change_state", transition=Transition(id=number))
            publish()  # while it changes
            assert probe.answer(asked).success == (now == before), (now, number)
            if now == before:
                now, done = after, done + 1
            assert probe.state() == now
        probe.until(lambda: all(future.done() for future in waiting), "the answers to all requests")
        if now != "inactive":
            assert probe.change(next(number for number, change in TRANSITIONS.items() if change == (now, "inactive")))

        def quiet():
            outputs.clear()
            probe.spin(0.3)
            return not outputs

        probe.until(quiet, "the last of what it had published")
        publish()
        assert probe.state() == "inactive" and quiet(), "published while inactive"
    assert node.running and node.stop() == 0 and "internal_error" not in node.output and "Traceback" not in node.output
