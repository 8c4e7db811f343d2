"""Scripted exchanges with a real broker: requests whose answers and records the simulated coordinator has to repeat."""

from __future__ import annotations

from . import (
    joining,
    leaving,
    offsets,
    reconciling,
    regexes,
    restarting,
    static,
    topics,
    transactions,
    validating,
)
from .table import EXCHANGES, Exchange

__all__ = [
    "EXCHANGES",
    "Exchange",
    "joining",
    "leaving",
    "offsets",
    "reconciling",
    "regexes",
    "restarting",
    "static",
    "topics",
    "transactions",
    "validating",
]
