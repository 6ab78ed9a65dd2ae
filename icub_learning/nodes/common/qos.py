"""QoS profiles, and the time that DDS discovery takes."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

SENSOR = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)  # subscriptions with it match every publisher
# For joint states and wrenches: each is to be predicted and learned, late rather than never, even after a busy machine
# kept a node from running for a while. DDS and sockets may hold fewer messages than this.
SAMPLES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
STREAM = QoSProfile(depth=10)  # profile of topics that nodes publish
STATE = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # latched: late subscribers get the last one
# For programs that record or replay whole streams; the second one matches every publisher.
DEEP = QoSProfile(depth=2000)
DEEP_BEST_EFFORT = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
# [s] allowed for discovery: two endpoints find each other one after the other, and what one sends before is lost.
DISCOVERY_TIME = 0.5
