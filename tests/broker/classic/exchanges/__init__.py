"""Scripted exchanges of the classic protocol with a real broker, which the simulated coordinator has to repeat."""

from __future__ import annotations

from . import joining, migrating, offsets, restarting, rounds, static, staying, syncing
from .table import EXCHANGES, Exchange

__all__ = [
    "EXCHANGES",
    "Exchange",
    "joining",
    "migrating",
    "offsets",
    "restarting",
    "rounds",
    "static",
    "staying",
    "syncing",
]
