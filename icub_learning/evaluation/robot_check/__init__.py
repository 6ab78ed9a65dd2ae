"""Checks of a robot's messages, which find faults before anything is learned from them."""
