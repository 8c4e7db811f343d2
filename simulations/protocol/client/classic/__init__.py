"""Consumers of the classic protocol as membership machines: an answer goes in; requests and callbacks come out."""

from simulations.protocol.client.classic.config import ClassicConfig
from simulations.protocol.client.classic.consumer import ClassicConsumer
from simulations.protocol.client.classic.releases import CLIENTS, RELEASES, Release
