"""Feature vectors of made-up objects that are fed to a recognizer as a node would feed them."""

import numpy as np

from icub_learning.recognition.assembly import Settings, make_recognizer

D = 12  # number of features
NET = "net/features"
SECOND = 10**9  # [ns]
PLACES = dict(zip(("mug", "duck", "teddy", "block"), 3.0 * np.random.default_rng(0).normal(size=(4, D)), strict=True))


def view(label, rng):
    return PLACES[label] + rng.normal(size=D)


class Stream:
    """Views at 20 Hz, each recognized and, during a lesson, then learned."""

    def __init__(self, recognizer, seed=0):
        self.recognizer, self.rng, self.stamp = recognizer, np.random.default_rng(seed), 0

    def feed(self, x, source=NET):
        self.stamp += SECOND // 20
        seen = self.recognizer.recognize(self.stamp, source, x)
        self.recognizer.learn()
        return seen

    def show(self, label, count=1):
        return [self.feed(view(label, self.rng)) for _ in range(count)]

    def teach(self, label, count=10):
        lesson = self.recognizer.start_lesson(label, count)
        self.show(label, count)
        assert lesson.done
        self.recognizer.end_lesson()


def recognizer(**settings):
    return make_recognizer(Settings(**settings))
