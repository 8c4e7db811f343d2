"""How roughly a drawn group is handled: what happens to it, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from simulations.scenario import Verb


class Preset(StrEnum):
    """``calm``: people and deployments. ``stormy``: processes fail, too. ``hostile``: everything at once."""

    CALM = "calm"
    STORMY = "stormy"
    HOSTILE = "hostile"


PRESETS: Final = tuple(Preset)

ACTIONS_MOST: Final[Mapping[Preset, int]] = {Preset.CALM: 8, Preset.STORMY: 12, Preset.HOSTILE: 16}
"""Lines of a script after the first joins."""

GAPS_MS: Final[Mapping[Preset, tuple[int, ...]]] = {
    Preset.CALM: (0, 40, 500, 1_000, 2_000, 4_000),
    Preset.STORMY: (0, 1, 20, 300, 700, 1_500, 3_000),
    Preset.HOSTILE: (0, 0, 1, 3, 40, 200, 600, 1_200, 2_700),
}
"""Between two lines: from the same instant to longer than a session timeout."""

_USUAL: Final[Mapping[Verb, int]] = {
    Verb.JOIN: 6,
    Verb.LEAVE: 3,
    Verb.RESTART: 3,
    Verb.HEARTBEAT: 2,
    Verb.COMMIT: 3,
    Verb.SUBSCRIBE: 3,
    Verb.ADD_PARTITIONS: 2,
    Verb.SLOW_REVOKE: 1,
}
_FAILING: Final[Mapping[Verb, int]] = {
    **_USUAL,
    Verb.KILL: 3,
    Verb.PAUSE: 3,
    Verb.RESUME: 4,
    Verb.SLOW_REVOKE: 3,
}

WEIGHTS: Final[Mapping[Preset, Mapping[Verb, int]]] = {
    Preset.CALM: _USUAL,
    Preset.STORMY: _FAILING,
    Preset.HOSTILE: {**_FAILING, Verb.KILL: 5, Verb.PAUSE: 5, Verb.HEARTBEAT: 4},
}
"""How often each verb is drawn against the others, where it can be done at all."""
