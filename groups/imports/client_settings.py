"""Settings of a group's consumers that no record of the consumer protocol reports, given by who imports a log.

They become a note at the beginning of each timeline; what is inferred with them is marked "as given" (``findings.facts``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SETTINGS: Final[Mapping[str, str]] = {
    "session_timeout_ms": "group.consumer.session.timeout.ms",
    "max_poll_interval_ms": "max.poll.interval.ms",
}
"""What is asked for → Kafka's name of it."""

TIMEOUT_LEAST_MS: Final = 1
TIMEOUT_MOST_MS: Final = 7 * 24 * 3_600_000
"""A week: a consumer that may be silent for longer is never removed while somebody looks."""


class BadSetting(ValueError):
    """A value that cannot be one: one line; ``field`` names which."""

    def __init__(self, field: str, given: object) -> None:
        most = f"{TIMEOUT_MOST_MS:,}"
        super().__init__(
            f"{field}={given!r} is no timeout: a whole number of ms from {TIMEOUT_LEAST_MS} to {most}."
        )
        self.field = field


def settings_of(given: Mapping[str, Any]) -> dict[str, int]:
    """Kafka's names → milliseconds, of what was given as text or number; ``BadSetting`` for another value."""
    found: dict[str, int] = {}
    for field, name in SETTINGS.items():
        value = given.get(field)
        if value is None or value == "":
            continue
        digits = value.strip() if isinstance(value, str) else value
        if isinstance(digits, str) and digits.isascii() and digits.isdigit() and len(digits) <= 12:
            digits = int(digits)
        if type(digits) is not int or not TIMEOUT_LEAST_MS <= digits <= TIMEOUT_MOST_MS:
            raise BadSetting(field, value)
        found[name] = digits
    return found
