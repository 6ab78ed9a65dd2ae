"""Services of other nodes: how long they are waited for, and the parameters that they answer with."""

from itertools import product
from unittest.mock import Mock

import pytest
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from icub_learning.clients.services import Services, parameters_in
from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common.qos import DISCOVERY_TIME

VALUES = {"urdf": "ur10", "learning": False, "rate": 200, "tolerance": 0.25, "joints": ["elbow", "wrist"]}


def test_values_come_by_name_as_python_has_them_and_those_that_are_not_answered_are_left_out():
    values = [Parameter(name, value=value).get_parameter_value() for name, value in VALUES.items()]
    names = [*VALUES, "never set"]
    found = parameters_in(GetParameters.Response(values=[*values, ParameterValue()]), names)
    assert found == VALUES | {"never set": None} and found["learning"] is False
    for count in (0, 2):
        assert parameters_in(GetParameters.Response(values=values[:count]), names) == dict(list(VALUES.items())[:count])


def test_services_are_waited_for_once_and_each_answer_as_long_as_it_may_take():
    node, waited = Mock(), []
    services = Services(node, lambda done, limit: waited.append((limit, done())) or waited[-1][1])  # nothing comes late
    client = node.create_client.return_value
    client.service_is_ready.return_value = client.call_async.return_value.done.return_value = False
    with pytest.raises(IcubLearningError, match=r"no service a, b in ROS domain"):
        services.find_all({"a": Trigger, "b": Trigger}, 3.0)
    client.service_is_ready.return_value = True
    for name in ("c", "c", "a"):  # two that have been found already
        assert services.find(Trigger, name) is client
    asks = services.call, lambda kind, name, *takes: services.answer(name, services.ask(kind, name), *takes)
    for ask, (takes, seconds) in product(asks, (([], "10"), ([2.5], "12.5"))):
        with pytest.raises(IcubLearningError, match=f"a did not answer within {seconds} s"):
            ask(Trigger, "a", *takes)
    assert waited == [(3.0, False), (10.0, True), (DISCOVERY_TIME, False), *[(10.0, False), (12.5, False)] * 2]
