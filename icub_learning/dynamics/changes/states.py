"""What a ChangeMonitor can believe of the robot: that it is as usual, touched, or carries something."""

from enum import Enum


class State(Enum):
    """A number, and what is seen in a word or two."""

    GETTING_USED = 0, "getting used to the errors"
    QUIET = 1, "nothing"
    DISTURBED = 2, "contact"  # something has begun: a push, or a load that is not known yet
    CARRYING = 3, "load"
    DISTURBED_CARRYING = 4, "contact"  # something has begun while a load was carried; perhaps it was let go
