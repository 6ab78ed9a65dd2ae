"""The command `icub-learning teach`."""
