"""Consumers of the classic protocol as membership machines: an answer goes in; requests and callbacks come out."""

from __future__ import annotations

from simulations.clients.classic.config import ClassicConfig
from simulations.clients.classic.consumer import ClassicConsumer
from simulations.clients.classic.releases import RELEASES, Release

__all__ = ["RELEASES", "ClassicConfig", "ClassicConsumer", "Release"]
