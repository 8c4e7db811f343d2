"""How roughly a drawn group is handled: what happens to it, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from simulations.world.scenario import Verb


class Preset(StrEnum):
    """``calm``: people and deployments. ``stormy``: processes fail, too. ``hostile``: everything at once.

    ``rolling``: what a seed draws of these three, and brokers are rolled and ``group.version`` changes as well.
    """

    CALM = "calm"
    STORMY = "stormy"
    HOSTILE = "hostile"
    ROLLING = "rolling"


PRESETS: Final = (Preset.CALM, Preset.STORMY, Preset.HOSTILE)
"""Those of which a seed draws one where none is named: seeds that were kept draw what they drew."""

EVERY_PRESET: Final = tuple(Preset)

ACTIONS_MOST: Final[Mapping[Preset, int]] = {Preset.CALM: 8, Preset.STORMY: 12, Preset.HOSTILE: 16}
"""Lines of a script after the first joins."""

GAPS_MS: Final[Mapping[Preset, tuple[int, ...]]] = {
    Preset.CALM: (0, 40, 500, 1_000, 2_000, 4_000),
    Preset.STORMY: (0, 1, 20, 300, 700, 1_500, 3_000),
    Preset.HOSTILE: (0, 0, 1, 3, 40, 200, 600, 1_200, 2_700),
}
"""Between two lines: from the same instant to longer than a session timeout."""

_USUAL: Final[Mapping[Verb, int]] = {
    Verb.JOIN: 12,
    Verb.LEAVE: 6,
    Verb.RESTART: 5,
    Verb.HEARTBEAT: 3,
    Verb.COMMIT: 6,
    Verb.SUBSCRIBE: 6,
    Verb.ADD_PARTITIONS: 4,
    Verb.SLOW_REVOKE: 2,
    Verb.POLL_LATE: 2,
    Verb.CREATE_TOPIC: 3,
    Verb.DELETE_TOPIC: 2,
    Verb.SET_CONFIG: 1,
    Verb.DELETE_GROUP: 1,
    Verb.EXPIRE_OFFSETS: 1,
}
_FAILING: Final[Mapping[Verb, int]] = {
    **_USUAL,
    Verb.KILL: 6,
    Verb.PAUSE: 5,
    Verb.RESUME: 8,
    Verb.SLOW_REVOKE: 5,
    Verb.POLL_LATE: 4,
    Verb.FAIL_CALLBACK: 2,
    Verb.FAIL_OVER: 4,
    Verb.CUT: 3,
    Verb.HEAL: 5,
    Verb.NETWORK: 1,
}

WEIGHTS: Final[Mapping[Preset, Mapping[Verb, int]]] = {
    Preset.CALM: _USUAL,
    Preset.STORMY: _FAILING,
    Preset.HOSTILE: {
        **_FAILING,
        Verb.KILL: 8,
        Verb.PAUSE: 8,
        Verb.HEARTBEAT: 6,
        Verb.FAIL_OVER: 8,
        Verb.CUT: 6,
        Verb.NETWORK: 3,
        Verb.CLOCK_JUMP: 3,
    },
}
"""How often each verb is drawn against the others, where it can be done at all."""

SHARES: Final[Mapping[Preset, tuple[float, ...]]] = {
    Preset.CALM: (0.0,),
    Preset.STORMY: (0.0, 0.0, 0.02),
    Preset.HOSTILE: (0.0, 0.03, 0.15),
}
"""Of messages that are lost, come twice, or are held up."""

LAGS_MS: Final[Mapping[Preset, tuple[int, ...]]] = {
    Preset.CALM: (0,),
    Preset.STORMY: (0, 0, 10, 300),
    Preset.HOSTILE: (0, 10, 100, 1_000),
}
"""Of replicas and of metadata."""

THEME_SHARE: Final = 0.2
"""Of the lines of a script with members of the classic protocol, those in whose place a theme is drawn."""

CLASSIC_WEIGHTS: Final[Mapping[Verb, int]] = {Verb.BOUNCE: 8, Verb.ENFORCE_REBALANCE: 2}
"""What is drawn besides where there are members of the classic protocol."""


def weights_of(preset: Preset, *, classic: bool) -> Mapping[Verb, int]:
    """How often each verb is drawn."""
    if not classic:
        return WEIGHTS[preset]
    weights = {**WEIGHTS[preset], **CLASSIC_WEIGHTS}
    # Settings of the group are those of the consumer protocol.
    return {verb: weight for verb, weight in weights.items() if verb is not Verb.SET_CONFIG}
