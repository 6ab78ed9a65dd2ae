"""What all nodes share: parameters, spinning, scheduling, timing, conversions of messages."""
