"""Who publishes, and who hears nothing: several senders on one topic, QoS that does not match, names that alternate."""

from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation, listed

SHARE = 0.02  # of joint states with other names, beyond which a second sender is likely


def check_publishers(seen: Observation) -> list[Finding]:
    """Look for more than one sender on a topic: stamps and joints of two robots would be mixed."""
    crowded = [topic for topic in seen.topics if len(topic.publishers) > 1]
    if crowded:
        text = "; ".join(
            f"{len(topic.publishers)} nodes publish {topic.name}: {listed(topic.publishers)}" for topic in crowded
        )
        return [
            Finding("publishers", WRONG, text, "give each robot a topic or namespace of its own, or stop one of them")
        ]
    others = [event for event in seen.recording.irregular if event.names and event.names != seen.recording.joint_names]
    if len(others) > SHARE * max(seen.recording.n_joint_states, 1):
        text = (
            f"{len(others)} of {seen.recording.n_joint_states} joint states have other joints than the rest"
            f" ({listed(others[0].names)}): two senders share the topic"
        )
        return [Finding("publishers", WRONG, text, "give each sender a topic of its own, and learn from one of them")]
    return [Finding("publishers", RIGHT, "one sender on each topic")]


def check_qos(seen: Observation) -> list[Finding]:
    """Look for subscriptions that ask for more than the publishers offer."""
    if not seen.topics:
        return [Finding("qos", OPEN, "a recording does not tell who subscribed with which QoS")]
    unserved = [text for topic in seen.topics for text in topic.unserved]
    if unserved:
        remedy = "let the publisher offer reliable, volatile, or the subscription ask for best effort, volatile"
        return [Finding("qos", WRONG, f"receives nothing: {'; '.join(unserved)}", remedy)]
    return [Finding("qos", RIGHT, "QoS of publishers and subscriptions match")]
