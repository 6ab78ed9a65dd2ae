"""Stochastic gradient methods that see one sample or mini-batch at a time: SGD and POLK."""
