"""QoS profiles, and the time that DDS discovery takes."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

SENSOR = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)  # subscriptions; match every publisher
# Joint states and wrenches: every one of them is to be predicted and learned, late rather than never, also where a busy
# machine did not let a node run for a while. What DDS and sockets can hold may be less.
SAMPLES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
STREAM = QoSProfile(depth=10)  # what nodes publish
STATE = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # late subscribers get the last message
# For programs that record or replay whole streams; the second one matches every publisher.
DEEP = QoSProfile(depth=2000)
DEEP_BEST_EFFORT = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
# [s]: two endpoints learn of each other one after the other. What one of them sends before is lost.
DISCOVERY_TIME = 0.5
