"""Consumers of the new protocol as membership machines: an answer goes in; requests and callbacks come out."""

from simulations.protocol.client.consumer.config import CloseOption, ConsumerClient, ConsumerConfig
from simulations.protocol.client.consumer.consumer import Consumer
from simulations.protocol.client.consumer.effects import (
    Alarm,
    AskMetadata,
    Call,
    Callback,
    Effect,
    Operation,
    Returned,
    Send,
)
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.requests import (
    Answer,
    FindCoordinator,
    FindCoordinatorAnswer,
    Request,
)
