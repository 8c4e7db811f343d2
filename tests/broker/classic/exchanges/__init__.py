"""Scripted exchanges of the classic protocol with a real broker, which the simulated coordinator has to repeat."""

from __future__ import annotations

from . import downgrading, joining, migrating, mixed, offsets, restarting, rounds, static, staying, syncing
from .table import EXCHANGES, Exchange

__all__ = [
    "EXCHANGES",
    "Exchange",
    "downgrading",
    "joining",
    "migrating",
    "mixed",
    "offsets",
    "restarting",
    "rounds",
    "static",
    "staying",
    "syncing",
]
