"""Where each value of a fork comes from: in the log, assumed, changed by the reader, or unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simulations.fork.edits import Value
from simulations.fork.values import Assumption, Edits, Mark

NOT_IN_LOG = "not in a log"


class Rows:
    """Collects a fork's rows while its scenario is made."""

    def __init__(self, edits: Edits) -> None:
        self._edits = edits
        self._used: set[str] = set()
        self.rows: list[Assumption] = []
        self.missing: list[str] = []
        """What the log lacks and the fork needs, each as a noun."""

    def fact(self, key: str, name: str, value: str | int | None, reason: str) -> None:
        """A value of the log, which cannot be changed."""
        self._add(key, name, Mark.IN_LOG, value, reason, can_change=False)

    def assumed(self, key: str, name: str, value: str | int | None, reason: str) -> None:
        """An assumption that no setting changes."""
        self._add(key, name, Mark.ASSUMED, value, reason, can_change=False)

    def unknown(self, key: str, name: str, reason: str) -> None:
        """A value that nobody has, and that the branch does without."""
        self._add(key, name, Mark.UNKNOWN, None, reason, can_change=False)

    def number(
        self,
        key: str,
        name: str,
        recorded: Iterable[int | None],
        usual: int,
        reason: str,
        source: str = "records",
    ) -> int | None:
        """A number of every member: the reader's, else ``None`` where all are recorded (each has its own), else ``usual``."""
        given = self.changed(key)
        values = list(recorded)
        if isinstance(given, int):
            self._add(key, name, Mark.CHANGED, given, f"without it: {_span(values) or usual}")
            return given
        if values and all(value is not None for value in values):
            self._add(key, name, Mark.IN_LOG, _span(values), source)
            return None
        self._add(key, name, Mark.ASSUMED, usual, reason)
        return usual

    def choice(
        self,
        key: str,
        name: str,
        recorded: str | bool | None,
        usual: str | bool,
        choices: Sequence[str],
        reason: str,
        source: str = "records",
    ) -> tuple[str | bool, bool]:
        """A value of a list, and whether the reader chose it."""
        given = self.changed(key)
        before = usual if recorded is None else recorded
        if given is not None and given != before:
            assert isinstance(given, str | bool)
            self._add(key, name, Mark.CHANGED, given, f"without it: {before}", choices=choices)
            return given, True
        mark, why = (Mark.ASSUMED, reason) if recorded is None else (Mark.IN_LOG, source)
        self._add(key, name, mark, before, why, choices=choices)
        return before, False

    def needed(self, key: str, name: str, noun: str, recorded: int | None) -> int:
        """A number without which there is no fork; 1 in its place if it is missing."""
        given = self.changed(key)
        if isinstance(given, int):
            self._add(key, name, Mark.CHANGED, given, "not in this log")
            return given
        if recorded is None:
            self.lacks(key, name, noun)
            return 1
        self.fact(key, name, recorded, "records")
        return recorded

    def lacks(self, key: str, name: str, noun: str) -> None:
        """Something without which there is no fork; the reader may give it."""
        self.missing.append(noun)
        self._add(key, name, Mark.UNKNOWN, None, "not in this log; the fork needs it")

    def given(self, key: str, name: str, value: Value) -> None:
        shown = ", ".join(value) if isinstance(value, list) else value
        self._add(key, name, Mark.CHANGED, shown, "not in this log")

    def changed(self, key: str) -> Value | None:
        self._used.add(key)
        return self._edits.settings.get(key)

    def unused(self) -> list[str]:
        """Settings that nothing asked for."""
        return [key for key in self._edits.settings if key not in self._used]

    def _add(
        self,
        key: str,
        name: str,
        mark: Mark,
        value: str | int | bool | None,
        reason: str,
        *,
        can_change: bool = True,
        choices: Sequence[str] = (),
    ) -> None:
        self.rows.append(
            {
                "key": key,
                "name": name,
                "mark": str(mark),
                "value": value,
                "reason": reason,
                "can_change": can_change,
                "choices": list(choices),
            }
        )


def _span(values: Sequence[int | None]) -> int | str | None:
    """One number if all are the same, else the least and the greatest."""
    numbers = sorted({value for value in values if value is not None})
    if not numbers:
        return None
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def listed(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    shown = [*names[:3]] + ([f"{len(names) - 3} more"] if len(names) > 3 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
