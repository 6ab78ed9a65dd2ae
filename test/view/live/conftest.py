"""A robot and the page's nodes, in a ROS domain of their own."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def beside(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """A BesideThePage that ends with the test."""
    from helpers.beside_the_page import BesideThePage

    monkeypatch.setattr("icub_learning.clients.services.DISCOVERY_TIME", 0.0)  # of other processes
    with BesideThePage() as made:
        yield made
