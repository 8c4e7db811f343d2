"""Redaction: no name passes, the same name is always called the same, and two incidents have nothing in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Entry, EntryLine
from groups.history.passes.recorder import Recorder
from groups.incidents.redaction import KEY_BYTES, Redactor
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.rpc import APIS, Api, Direction
from tests.history.corpus import CorpusLog, corpus
from tests.sharing import canaries
from tests.tiers import spread

KEY = bytes(range(KEY_BYTES))
OTHER_KEY = bytes(reversed(range(KEY_BYTES)))

LOGS = [log for log in corpus() if not log.name.startswith("broken")][::3]
assert len(LOGS) >= 10


def redactor_of(entries: Iterable[EntryLine], key: bytes) -> Redactor:
    """A redactor that has met all entries."""
    redactor = Redactor(key)
    for entry in entries:
        redactor.meet(entry)
    return redactor


def redacted(entries: list[Entry], key: bytes = KEY) -> list[dict[str, Any]]:
    told = [entry.to_json() for entry in entries]
    redactor = redactor_of(told, key)
    return [redactor.redacted(entry) for entry in told]


def folded(entries: list[dict[str, Any]], group: str, log: CorpusLog) -> str:
    """All that the fold makes of entries, as text: what a board, an API and a figure are made of."""
    recorder = Recorder(group=group, semantics=log.semantics)
    for entry in entries:
        recorder.add(Entry.from_json(entry))
    batch = recorder.flush(final=True)
    assert batch is not None
    digests = b"".join(
        packed.group + (packed.members or b"") + (packed.partitions or b"") for packed in batch.digests
    )
    whole = batch.entries + batch.changes + batch.moments + orjson.dumps(batch.summary) + digests
    return (whole + (batch.checkpoint or b"")).decode()


@pytest.mark.parametrize("log", spread(LOGS), ids=lambda log: log.name)
@pytest.mark.long
def test_no_canary_passes_in_entries_or_in_what_the_fold_makes_of_them(log: CorpusLog) -> None:
    entries = [canaries.marked(entry) for entry in log.entries]
    assert canaries.MARK in orjson.dumps([entry.to_json() for entry in entries]).decode()
    hidden = redacted(entries)
    assert not canaries.sings(orjson.dumps(hidden).decode())
    assert not canaries.sings(folded(hidden, "group-1", log))


@pytest.mark.parametrize("kind", RECORD_TYPES.values(), ids=lambda kind: kind.name)
def test_each_field_of_every_record_is_hidden(kind: Any) -> None:
    assert not canaries.sings(orjson.dumps(redacted([canaries.record_of(kind)])).decode())


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_each_field_of_every_request_and_response_is_hidden(api: Api, direction: Direction) -> None:
    assert not canaries.sings(orjson.dumps(redacted([canaries.message_of(api, direction)])).decode())


@pytest.mark.parametrize("log", spread(LOGS), ids=lambda log: log.name)
def test_the_shape_of_a_log_stays_what_it_was(log: CorpusLog) -> None:
    """Numbers, times, offsets, and who is the same as whom: the same moments at the same sequences."""
    hidden = redacted(list(log.entries))
    for before, after in zip(log.entries, hidden, strict=True):
        assert (before.sequence, before.at_ms, before.offset, before.cause) == (
            after["sequence"], after["at_ms"], after.get("offset"), after["cause"],
        )  # fmt: skip
        assert keys_of(before.payload) == keys_of(after["payload"])


def keys_of(value: Any) -> Any:
    """The shape of JSON: how many of what, without texts, names and hashes."""
    if isinstance(value, dict):
        return sorted(repr(keys_of(held)) for name, held in value.items() if name != "metadataHash")
    if isinstance(value, list):
        return [keys_of(held) for held in value]
    return "text" if isinstance(value, str) else value


@given(st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES))
def test_one_name_is_called_the_same_throughout_and_no_two_alike(key: bytes) -> None:
    log = LOGS[0]
    redactor = redactor_of((entry.to_json() for entry in log.entries), key)
    told = [one.there for one in redactor.pseudonyms()]
    assert len(told) == len(set(told))
    assert redactor_of((entry.to_json() for entry in log.entries), key).pseudonyms() == redactor.pseudonyms()


def test_under_another_key_names_are_numbered_otherwise() -> None:
    """Else what is seen in one incident would tell who somebody is in the next."""
    names = [f"member-{number:03}" for number in range(200)]
    told = []
    for key in (KEY, OTHER_KEY):
        redactor = redactor_of((), key)
        for name in names:
            redactor.meet_name("member", name)
        told.append([redactor.name("member", name) for name in names])
    same = sum(one == other for one, other in zip(*told, strict=True))
    assert same < 10
    assert told[0] != sorted(told[0], key=lambda name: int(name.rsplit("-", 1)[1]))


def test_a_member_after_a_restart_stays_in_its_lane() -> None:
    redactor = redactor_of((), KEY)
    redactor.meet_name("member", "A~2")
    redactor.meet_name("member", "A")
    assert redactor.name("member", "A~2") == f"{redactor.name('member', 'A')}~2"


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        redactor_of((), b"short")
