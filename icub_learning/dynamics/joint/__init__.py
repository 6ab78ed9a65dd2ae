"""One model of inverse dynamics: rigid bodies and random features learned together, exactly, at a fixed cost."""
