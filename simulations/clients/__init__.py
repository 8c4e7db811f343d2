"""Consumers of the new protocol as membership machines: an answer goes in; requests and callbacks come out."""

from __future__ import annotations

from simulations.clients.config import CloseOption, ConsumerConfig
from simulations.clients.consumer import Consumer
from simulations.clients.effects import (
    Alarm,
    AskMetadata,
    Call,
    Callback,
    Effect,
    Operation,
    Returned,
    Send,
)
from simulations.clients.errors import Failure
from simulations.clients.requests import Answer, FindCoordinator, FindCoordinatorAnswer, Request

__all__ = [
    "Alarm",
    "Answer",
    "AskMetadata",
    "Call",
    "Callback",
    "CloseOption",
    "Consumer",
    "ConsumerConfig",
    "Effect",
    "Failure",
    "FindCoordinator",
    "FindCoordinatorAnswer",
    "Operation",
    "Request",
    "Returned",
    "Send",
]
