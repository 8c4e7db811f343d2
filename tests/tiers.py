"""The two tiers of the tests: ``make test`` runs the quick tier, ``make test-all`` runs it and then the rest.

The environment variable ``TIER`` selects one:

quick   every test without the marker ``long``; a property draws few examples, the same ones in each run
rest    the tests marked ``long``, and each property again with all its examples, drawn by the seed of ``parts``
all     every test, a property with all its examples, the same ones in each run; so a plain ``pytest`` works
proof   the properties alone, with many times their examples, other ones in each run

A test belongs into ``long`` if its sentence is worth more seconds than a quick run has, and another quick test touches
the same code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Final

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

__all__ = ["TIER", "Tier", "examples", "is_property", "load_profile", "runs_in", "selected", "spread"]


class Tier(StrEnum):
    """The value of ``TIER``."""

    QUICK = "quick"
    REST = "rest"
    ALL = "all"
    PROOF = "proof"


TIER: Final = Tier(os.environ.get("TIER") or Tier.ALL)

QUICK_SHARE: Final = 12
"""The quick tier draws one example of so many, or runs one value of so many."""

PROOF_TIMES: Final = 20
"""``make proof`` draws so many times the examples that ``make test-all`` draws."""

QUICK_LEAST: Final = 4
"""Fewer examples than these would hardly leave a strategy's first values."""


def load_profile() -> None:
    """Loads the Hypothesis profile of this tier. A property is true or false, not fast or slow, so no deadline."""
    hypothesis_settings.register_profile(
        "tier",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
        # The rest draws by the seed that its command line names (see ``parts``); a proof draws as it likes.
        derandomize=TIER in {Tier.QUICK, Tier.ALL},
        database=None,
        max_examples=_count(100),
    )
    hypothesis_settings.load_profile("tier")


def examples(count: int, **more: Any) -> hypothesis_settings:
    """Hypothesis settings for ``count`` examples; in the quick tier for a few of them."""
    return hypothesis_settings(max_examples=_count(count), **more)


def _count(count: int) -> int:
    if TIER is Tier.QUICK:
        return min(count, max(QUICK_LEAST, count // QUICK_SHARE))
    return count * PROOF_TIMES if TIER is Tier.PROOF else count


def spread(
    values: Iterable[Any], every: int = QUICK_SHARE, keep: Callable[[Any], bool] | None = None
) -> list[Any]:
    """Values for ``parametrize``: the quick tier takes each ``every``-th, or those that ``keep`` names.

    >>> [bool(value.marks) for value in spread("abcd", every=2)]
    [False, True, False, True]
    """
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if (keep(value) if keep else at % every == 0) else pytest.mark.long,
        )
        for at, value in enumerate(values)
    ]


def selected(item: pytest.Item) -> bool:
    """Whether this tier runs the test."""
    return runs_in(TIER, is_long=item.get_closest_marker("long") is not None, is_property=is_property(item))


def runs_in(tier: Tier, *, is_long: bool, is_property: bool) -> bool:
    """Whether a tier runs a test with these features."""
    match tier:
        case Tier.QUICK:
            return not is_long
        case Tier.REST:
            return is_long or is_property
        case Tier.PROOF:
            return is_property
        case Tier.ALL:
            return True


def is_property(item: pytest.Item) -> bool:
    """Whether Hypothesis draws the test's examples: then each tier runs it, with examples of its own."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))
