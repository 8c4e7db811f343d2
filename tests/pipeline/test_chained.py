"""Large checkpoints as differences: each gives back what was added, by itself, and is small where little changed."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest import mock

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.packs import chained
from groups.packs.chained import CHAIN_MOST, CheckpointWriter, read_chained
from groups.packs.files import DamagedFile, Folder
from groups.packs.packs import Pack, PackWriter, Place, PlainPlace, read_blob
from groups.packs.text_delta import difference, restored
from tests.pipeline.folds import MemoryFiles

words = st.sampled_from(
    ["epoch", "a", "", "cLledStpRu6ixDUvA4jVgA", "\x01" + "7" + "\x02", "\n\n", '"', "ä" * 12, "0123456789ab"]
)
values = st.recursive(
    st.one_of(st.integers(-(2**40), 2**40), st.none(), words),
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(words, inner, max_size=6)),
    max_leaves=40,
)


@given(
    earlier=st.one_of(st.binary(), values.map(orjson.dumps)),
    text=st.one_of(st.binary(), values.map(orjson.dumps)),
)
def test_a_text_is_restored_from_what_differs(earlier: bytes, text: bytes) -> None:
    assert restored(earlier, difference(earlier, text)) == text


@given(
    text=st.binary(min_size=30),
    edits=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60), st.binary(max_size=40))),
)
def test_a_text_is_restored_whatever_was_cut_and_put_in(
    text: bytes, edits: list[tuple[int, int, bytes]]
) -> None:
    earlier = text = text * 9
    for at, length, fresh in edits:
        text = text[:at] + fresh + text[at + length :]
    assert restored(earlier, difference(earlier, text)) == text


@given(
    texts=st.lists(values.map(orjson.dumps), min_size=1, max_size=4),
    window_bytes=st.sampled_from((0, 20, chained.WINDOW_BYTES)),
)
def test_whatever_json_is_in_a_chain_is_read_as_it_was_added(texts: list[bytes], window_bytes: int) -> None:
    files = MemoryFiles()
    packs = PackWriter(files, "folder")
    with mock.patch.multiple(chained, LARGE_BYTES=0, WINDOW_BYTES=window_bytes):
        writer = CheckpointWriter(packs)
        added = [writer.add(text) for text in texts]
        pack = packs.close()

        assert [read_chained(files, whole(pack, one.chain)) for one in added] == texts


def group(members: int, random: Random) -> dict[str, Any]:
    """Something like the checkpoint of a group."""
    ids = [f"{random.getrandbits(128):032x}" for _ in range(members)]
    return {
        "members": {
            member: {"epoch": 1, "host": f"/10.{n}.0.1", "of": [member, n]} for n, member in enumerate(ids)
        },
        "lanes": [[member, n, {"seen": [n, n + 1]}] for n, member in enumerate(ids)],
    }


def goes_on(told: dict[str, Any], random: Random) -> None:
    """Some members change, some go, others come, and one is put last."""
    for member in random.sample(sorted(told["members"]), 12):
        told["members"][member]["epoch"] += 1
    for member in random.sample(sorted(told["members"]), 3):
        del told["members"][member]
    told["members"].update(group(3, random)["members"])
    moved = random.choice(sorted(told["members"]))
    told["members"][moved] = told["members"].pop(moved)
    told["lanes"].insert(random.randrange(len(told["lanes"])), group(1, random)["lanes"][0])


def test_a_group_of_which_little_changed_is_little() -> None:
    random = Random(1)
    told = group(1000, random)
    earlier = orjson.dumps(told)
    goes_on(told, random)

    assert len(difference(earlier, orjson.dumps(told))) < len(earlier) // 50


def whole(pack: Pack, chain: list[PlainPlace]) -> list[PlainPlace]:
    return [pack.place(Place.of(place)).plain() for place in chain]


def test_every_checkpoint_is_read_by_itself_and_the_chain_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chained, "LARGE_BYTES", 1000)
    files, random = MemoryFiles(), Random(2)
    packs = PackWriter(files, "folder")
    writer = CheckpointWriter(packs)
    told = group(300, random)
    texts, places = [], []
    for _ in range(2 * CHAIN_MOST + 3):
        texts.append(orjson.dumps(told))
        places.append(writer.add(texts[-1]))
        goes_on(told, random)
    small = writer.add(b'{"small":"cLledStpRu6ixDUvA4jVgA"}')
    again = writer.add(texts[0])
    pack = packs.close()

    assert [len(place.chain) for place in places] == [*range(1, CHAIN_MOST + 1)] * 2 + [1, 2, 3]
    lengths = [place.place[2] for place in places]
    assert max(lengths[1:CHAIN_MOST]) < lengths[0] // 4
    for text, place in reversed(list(zip(texts, places, strict=True))):
        assert read_chained(files, whole(pack, place.chain)) == text
    assert (small.chain, len(again.chain)) == ([], 1)
    assert read_blob(files, pack.place(Place.of(small.place))).startswith(b'{"small":')
    assert read_chained(files, whole(pack, again.chain)) == texts[0]


def test_a_chain_of_another_text_is_an_error_and_never_another_checkpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(chained, "LARGE_BYTES", 1000)
    files, random = Folder(tmp_path), Random(3)
    packs = PackWriter(files, "folder")
    one, other = CheckpointWriter(packs), CheckpointWriter(packs)
    told = group(100, random)
    one.add(orjson.dumps(told))
    goes_on(told, random)
    second = one.add(orjson.dumps(told))
    short = other.add(orjson.dumps(group(40, random)))
    pack = packs.close()

    with pytest.raises(DamagedFile, match="is damaged at byte"):
        read_chained(files, whole(pack, [short.place, second.place]))
    with pytest.raises(ValueError, match="16 bytes at least, this one 3"):
        restored(b"", b"abc")
