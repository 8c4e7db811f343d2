"""Hidden names change no diagnosis: what is folded of redacted entries is what is folded of the log, up to renaming."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
import pytest

from explorer.sharing.card import card
from groups import storage
from groups.history.entries import Entry, EntryLine
from groups.history.passes.recorder import Recorder
from groups.incidents.redaction import ID_LETTERS, KEY_BYTES, Redactor
from groups.models import Timeline
from groups.storage.handing_on import incident
from tests.history.corpus import CorpusLog, corpus
from tests.incidents.logs import recorded_logs
from tests.tiers import spread

KEY: Final = bytes(range(KEY_BYTES))

LOGS: Final = (
    *(log for log in corpus() if not log.name.startswith(("broken 2", "broken 3"))),
    *recorded_logs(),
)
"""Of a log that is broken in three ways, one."""


class InOrder(Redactor):
    """Pseudonyms that sort as the names do, since what is listed by name would be listed in another order."""

    def _digest(self, text: str) -> bytes:
        kind, mark, name = text.partition("\0")
        return (
            name.encode("utf-8", "surrogatepass") if mark and kind in self._names else super()._digest(text)
        )

    def _numbered(self, kind: str, value: str) -> str:
        if kind == "topic":
            return self._topic(value)
        digits = len(str(len(self._names[self._kind(kind, value)])))
        return re.sub(r"\d+$", lambda number: number[0].zfill(digits), super()._numbered(kind, value))

    def _letters(self, value: str) -> str:
        return f"{sorted(self._names['member']).index(value):a>{ID_LETTERS}}"

    def _uuid(self, value: str) -> str:
        return self._topic(value)

    def _topic(self, value: str) -> str:
        """A topic without a name is listed by its id, among the names, and an old one as ``old foo``."""
        known = sorted(self._names.get("topic", set()) | self._names.get("topic id", set()))
        return f"n-topic-{known.index(value):05}"


def folded(group: str, log: CorpusLog, entries: Sequence[EntryLine]) -> dict[str, Any]:
    recorder = Recorder(group=group, semantics=log.semantics, digests=False)
    for entry in entries:
        recorder.add(Entry.from_json(entry))
    batch = recorder.flush(final=True)
    assert batch is not None
    return {
        "summary": orjson.loads(orjson.dumps(batch.summary)),
        "changes": orjson.loads(batch.changes),
        "moments": orjson.loads(batch.moments),
    }


def shown_and_hidden(
    log: CorpusLog, redactor: Redactor
) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """What is folded of a log as it is and with names hidden, and the names by their pseudonyms."""
    entries = [entry.to_json() for entry in log.entries]
    for entry in entries:
        redactor.meet(entry)
    redactor.meet_name("group", log.group)
    shown = folded(log.group, log, entries)
    hidden = folded(redactor.name("group", log.group), log, [redactor.redacted(entry) for entry in entries])
    names = {there: here for _, here, there in redactor.pseudonyms()}
    for ours, theirs in zip(shown["summary"]["cast"], hidden["summary"]["cast"], strict=True):
        names[theirs["name"]] = ours["name"]
    return shown, hidden, names


def renamed(text: str, names: Mapping[str, str]) -> str:
    if not names:
        return text
    return re.sub(
        "|".join(map(re.escape, sorted(names, key=len, reverse=True))), lambda name: names[name[0]], text
    )


@pytest.mark.parametrize("log", spread(LOGS, every=40), ids=lambda log: log.name)
def test_what_is_folded_with_names_hidden_differs_by_names_alone(log: CorpusLog) -> None:
    """The verdict, the findings, what happened, and every frame of the board."""
    shown, hidden, names = shown_and_hidden(log, InOrder(KEY))
    in_json = {there: orjson.dumps(here).decode()[1:-1] for there, here in names.items()}
    for part, told in shown.items():
        assert orjson.loads(renamed(orjson.dumps(hidden[part]).decode(), in_json)) == told, part


@pytest.mark.parametrize("log", spread(recorded_logs(), every=40), ids=lambda log: log.name)
def test_the_diagnosis_of_a_recorded_incident_has_the_same_words_with_names_hidden(log: CorpusLog) -> None:
    """Under a drawn key names are listed in another order: the words are the same but for it."""
    shown, hidden, names = shown_and_hidden(log, Redactor(KEY))
    for part in ("findings", "epochs"):
        assert len(hidden["summary"][part]) == len(shown["summary"][part])
    assert words(renamed(hidden["summary"]["verdict"]["text"], names)) == words(
        shown["summary"]["verdict"]["text"]
    )


def words(text: str) -> list[str]:
    return sorted(re.findall(r"[^\s,.;:]+", text))


def stored_log(log: CorpusLog) -> Timeline:
    timeline = storage.create_timeline(
        title="Orders", source="import", group=log.group, semantics=log.semantics
    )
    writer = storage.open_writer(timeline.id, "the test")
    recorder = Recorder(group=log.group, semantics=log.semantics)
    for entry in log.entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    writer.append(batch)
    writer.finish("complete")
    return storage.get(timeline.id)


@pytest.mark.django_db
def test_a_share_and_its_card_show_the_diagnosis_that_the_board_shows() -> None:
    log = next(log for log in recorded_logs() if log.name == "crash-loop")
    timeline = stored_log(log)
    whole, hidden = incident(timeline), incident(timeline, key=KEY)
    assert hidden.summary["verdict"]["clauses"][0]["text"].startswith("Rebalance storm")
    assert card(hidden) == card(whole)
    assert [len(piece.moments) for piece in hidden.pieces] == [len(piece.moments) for piece in whole.pieces]
    lanes = [[member["lane"] for member in each.summary["cast"]] for each in (whole, hidden)]
    assert [lanes[0].index(lane) for lane in lanes[0]] == [lanes[1].index(lane) for lane in lanes[1]]
