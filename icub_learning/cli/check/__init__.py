"""`icub-learning check`: what is right and wrong with a robot's messages."""
