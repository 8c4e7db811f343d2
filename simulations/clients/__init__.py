"""Consumers of the new protocol as membership machines: an answer goes in; requests and callbacks come out."""

from __future__ import annotations

from simulations.clients.consumer import Consumer, ConsumerConfig
from simulations.clients.effects import Alarm, Call, Callback, Effect, Send

__all__ = ["Alarm", "Call", "Callback", "Consumer", "ConsumerConfig", "Effect", "Send"]
