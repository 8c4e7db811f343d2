"""Small scenarios, each with a fixed name, of which ``manage.py explore`` walks every interleaving."""

from __future__ import annotations

from typing import Final

from simulations.world.scenario.bundled import Bundled

_BUNDLED: Final = Bundled(__name__)
names, text, load = _BUNDLED.names, _BUNDLED.text, _BUNDLED.load
