"""Notes in what is handed on: if wanted, escaped, and with names hidden where they are."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client

from explorer.sharing import links
from explorer.sharing.models import SharedPage
from groups import storage
from groups.exporting import EXPORTERS, Wanted, fresh_key
from groups.incidents.pieces import Stretch
from groups.incidents.redaction import in_text
from groups.models import Timeline
from groups.storage import exported, new_id
from groups.storage.handing_on import redactor_for
from tests.stories import a_day_of_three

Stored = Callable[..., Timeline]
MADE = datetime(2026, 11, 22, 17, 0, tzinfo=UTC)
MARKUP = "<script>alert(1)</script> [x](y)"


@pytest.fixture
def timeline(stored: Stored) -> Timeline:
    return stored(a_day_of_three())


def write(timeline: Timeline, text: str, at: int, author: User | None = None, **more: Any) -> Any:
    return timeline.notes.create(id=new_id(), text=text, sequence=at, at_ms=at * 1000, author=author, **more)


def page(timeline: Timeline, **wanted: Any) -> str:
    return EXPORTERS["html"](timeline, Wanted(made=MADE, **wanted)).content.decode()


def test_notes_are_in_a_file_a_link_and_a_report_if_wanted_and_their_text_is_no_markup(
    timeline: Timeline, client: Client
) -> None:
    mara = User.objects.create_user("mara")
    note = write(timeline, MARKUP, 2, mara)
    write(timeline, "Ours.", 2, parent=note)
    write(timeline, "Ask @mara, or mail@mara", 3)
    assert "Ours." not in page(timeline)
    text = page(timeline, notes=True)
    assert escape(MARKUP) in text
    assert MARKUP not in text
    at = text.index('class="notes"')
    assert [word in text for word in ("mara", "Ours.", 'data-at="2"')] == [True] * 3, text[at : at + 900]
    assert "Ours." not in page(timeline, notes=True, stretch=Stretch(first=timeline.last, last=timeline.last))
    address = f"/t/{timeline.id}/report"
    assert "Ours." not in client.get(address).content.decode()
    report = client.get(f"{address}?notes=1").content.decode()
    assert escape(MARKUP) in report
    plain = client.get(f"{address}?notes=1&format=md").content.decode()
    assert r"mara: \<script\>alert(1)\</script\> \[x\](y)" in plain
    assert "  * Reply: Ours." in plain
    assert "@&#8203;mara, or mail@mara" in plain, "it notifies nobody where it is pasted"


def test_where_names_are_hidden_they_are_in_notes_too_those_of_people_and_of_what_comes_later_among_them(
    timeline: Timeline, client: Client
) -> None:
    mara, jon = (User.objects.create_user(name) for name in ("mara", "jon"))
    names = [one.here for one in redactor_for(timeline, timeline.last, fresh_key()).pseudonyms()]
    assert len(names) > 4
    said = write(
        timeline,
        " ".join([*names, *(name.upper() for name in names if len(name) > 2), "@jon or Mara, still here"]),
        1,
        mara,
    )
    said.mentions.add(jon)
    write(timeline, f"jon asks about {names[0]}-3", 1, jon, parent=said)
    key, first = fresh_key(), Stretch(first=1, last=1)
    link, _ = links.make(timeline, links.Asked(wanted=Wanted(made=MADE, key=key, stretch=first, notes=True)))
    shared = gzip.decompress(bytes(SharedPage.objects.get(link=link).content)).decode()
    for text in (
        page(timeline, key=key, notes=True),
        page(timeline, key=key, notes=True, stretch=first),
        shared,
        client.get(f"/t/{timeline.id}/report?names=hidden&notes=1&format=md").content.decode(),
    ):
        told = text[text.index("still here") - 4000 : text.index("still here") + 600].casefold()
        notes = told[told.rindex('class="notes"') if 'class="notes"' in told else told.rindex("## notes") :]
        assert "person-1" in notes
        assert "still here" in notes
        for name in (*filter(lambda one: len(one) > 2, names), "mara", "jon"):
            assert in_text({name: ""})(notes) == notes, name


def test_a_data_file_has_the_notes_if_wanted_and_its_reader_whose_they_were(timeline: Timeline) -> None:
    mara = User.objects.create_user("mara")
    note = write(timeline, "Is orders ours?", 2, mara, kind="question")
    write(timeline, "Ours.", 2, parent=note)
    write(timeline, "At the beginning", 0)

    def taken(**wanted: Any) -> list[tuple[int, int | None, str, str, bool]]:
        made = exported.take_in(EXPORTERS["data"](timeline, Wanted(made=MADE, **wanted)).content, new_id=True)
        assert not made.notes.exclude(author=None).exists()
        # Not by the clock, which may be set back between two notes.
        notes = made.notes.order_by("sequence", F("parent").asc(nulls_first=True))
        rows = notes.values_list("sequence", "at_ms", "kind", "text", "parent__text")
        return [(*row[:4], row[4] is not None) for row in rows]

    assert taken() == []
    at_ms = storage.entries_between(timeline, 2, 2)[0]["at_ms"]
    assert taken(notes=True) == [
        (0, None, "note", "At the beginning", False),
        (2, at_ms, "question", "mara: Is orders ours?", False),
        (2, at_ms, "question", "Ours.", True),
    ]
    hidden = [row[3] for row in taken(notes=True, key=fresh_key())]
    assert hidden[1:] == ["person-1: Is group-1 ours?", "Ours."]


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        [None],
        ["x"],
        [{"at": -1}],
        [{"at": 10**9}],
        [{"kind": "rant"}],
        [{"text": 5}],
        [{"replies": [["a"]]}],
    ],
)
def test_a_data_file_whose_notes_are_none_is_refused_in_one_line(timeline: Timeline, wrong: Any) -> None:
    right = {"at": 1, "kind": "note", "author": "", "text": "x", "replies": []}
    notes = (
        [right | wrong[0]] if isinstance(wrong, list) and wrong[0] and isinstance(wrong[0], dict) else wrong
    )
    packed = gzip.decompress(EXPORTERS["data"](timeline, Wanted(made=MADE)).content)
    head, _, rest = packed.partition(b"\n")
    content = orjson.dumps(orjson.loads(head) | {"notes": notes}) + b"\n" + rest
    before = Timeline.objects.count()
    with pytest.raises(exported.BadExport, match=r"^its first line has a note that is none: [^\n]*$"):
        exported.take_in(content, new_id=True)
    assert Timeline.objects.count() == before


def test_names_within_a_text_are_replaced_as_whole_words_the_longest_first() -> None:
    hidden = in_text({"orders": "topic-1", "orders-eu": "topic-2", "A": "member-1", "": "x", "a+b(": "odd"})
    assert (
        hidden("A topic: a, Orders-EU-3, reorders, ORDERS and a+b(")
        == "member-1 topic: a, topic-2-3, reorders, topic-1 and odd"
    )
    assert in_text({})("as it was") == "as it was"
    assert hidden("障害はordersのみ, orders_0, ORDERſ") == "障害はtopic-1のみ, topic-1_0, topic-1"
    assert in_text({"A": "member-1", "a": "member-2"})("A and a") == "member-1 and member-2"


def test_names_that_people_gave_and_people_who_are_gone_are_hidden_in_notes_too(
    timeline: Timeline, client: Client
) -> None:
    jon = User.objects.create_user("jon")
    timeline.topic_names = {"some-id": "payments-prod"}
    timeline.title = "The outage of Acme"
    timeline.save()
    write(timeline, "payments-prod is stuck, says @jon; see the outage of Acme", 1)
    jon.delete()
    report = client.get(f"/t/{timeline.id}/report?names=hidden&notes=1&format=md").content.decode()
    notes = report[report.index("## Notes") :]
    assert "(hidden) is stuck, says @&#8203;person; see (hidden)" in notes.replace("\\", "")
