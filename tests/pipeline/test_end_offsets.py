"""A file of end offsets that comes with an import: what it may look like, what is refused, and the lag that it makes known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import CommandError
from django.test import Client

from groups import storage
from groups.imports import lifecycle, tasks
from groups.management.commands.import_log import content_of_end_offsets
from groups.texts import end_offsets
from groups.texts.end_offsets import BadEndOffsets, read_end_offsets
from tests.pipeline.segments import FOO, START_MS, Group, Segment, hash_of, sample_group

AT_MS = 1_795_343_400_000
TABLE = """
GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
g      orders  0          3               5               2    -            -     -
g      orders  1          -               -               -    -            -     -
"""


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22T10:30:00Z,orders,0,5",
        "time,topic,partition,end_offset\n1795343400,orders,0,5\n",
        '\ufeff{"time": 1795343400000, "topic": "orders", "partition": 0, "end_offset": 5}',
        "Sun Nov 22 10:30:00 UTC 2026\norders:0:5\norders:1:\n",
        f"[2026-11-22 10:29:59,000] WARN the tool, as it starts, warns\n2026-11-22T10:30:00Z\n{TABLE}",
    ],
)
def test_each_form_gives_the_same_ends(text: str) -> None:
    found = read_end_offsets(text.splitlines())
    assert {topic: (list(one.times_ms), one.offsets[0][0]) for topic, one in found.ends.items()} == {
        "orders": ([AT_MS], 5)
    }
    assert not found.starts


def test_looks_are_in_order_of_time_and_the_last_end_of_one_time_counts() -> None:
    text = ["1795343405,o,0,9,2", "1795343400,o,1,5", "1795343400,o,0,4", "1795343400,o,0,6"]
    found = read_end_offsets(text)
    assert list(found.ends["o"].times_ms) == [AT_MS, AT_MS + 5_000]
    assert {number: list(some) for number, some in found.ends["o"].offsets.items()} == {0: [6, 9], 1: [5, -1]}
    assert list(found.starts["o"].offsets[0]) == [2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no end offset is in it"),
        ("hello\nworld", "no end offset is in it"),
        ("1795343400,o,0,5\n1795343400,o,0", "line 2: 3 columns"),
        ("1795343400,o,0,5\nyesterday,o,0,5", "line 2: 'yesterday' is no time"),
        ("1795343400,o,0,-1", "line 1: end_offset '-1' is no whole number"),
        ("1795343400,o,0,9223372036854775808", "line 1: end_offset"),
        ("1795343400,o,2147483648,1", "line 1: partition"),
        ("1795343400,o o,0,1", "line 1: 'o o' is no name of a topic"),
        ('{"time": 1, "topic": "o"', "line 1: no JSON"),
        ('{"time": 1, "topic": "o"}', "line 1: no object with time, topic, partition, end_offset"),
        ("orders:0:5", "line 1: no time is known of this look"),
        ("2026-11-22T10:30:00Z\norders:0:five", "line 2: end_offset 'five'"),
        (f"2026-11-22T10:30:00Z{TABLE}g      orders  0", "line 5: the row of a table is cut off"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line_with_its_place(text: str, why: str) -> None:
    with pytest.raises(BadEndOffsets) as refused:
        read_end_offsets(text.splitlines())
    assert str(refused.value).startswith(why)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_offsets, "OFFSETS_MOST", 3)
    read_end_offsets(f"{1795343400 + number},o,0,5" for number in range(3))
    with pytest.raises(BadEndOffsets, match="more than 3 times × partitions"):
        read_end_offsets(f"{1795343400 + number},o,{number},5" for number in range(2))
    monkeypatch.setattr(end_offsets, "LINES_MOST", 2)
    with pytest.raises(BadEndOffsets, match=r"^line 3: the file has more than 2 lines"):
        read_end_offsets(["1795343400,o,0,5"] * 3)


def test_the_command_names_its_option_and_the_line(tmp_path: Path) -> None:
    file = tmp_path / "ends.csv"
    file.write_text("1795343400,o,0")
    with pytest.raises(CommandError, match=r"^--end-offsets .*ends\.csv: no end offset is in it"):
        content_of_end_offsets(str(file))
    with pytest.raises(CommandError, match="--end-offsets"):
        content_of_end_offsets(str(tmp_path / "none"))


def log_of_a_handover() -> Segment:
    """A reads ten records a second and leaves at second 11; six seconds later B reads on, twice as fast until it has caught up."""
    group = Group()
    known = hash_of({"foo": (FOO, 1)})
    segment = Segment().add(group.join("A", {FOO: [0]}, known)).add(group.join("B", {FOO: []}, known))
    for second in range(1, 11):
        segment.add(group.commit(offset=10 * second))
    segment.add(group.leave("A"))
    segment.now_ms += 5_000
    segment.add(group.advance("B", {FOO: [0]}))
    for second in range(1, 21):
        segment.add(group.commit(offset=min(100 + 20 * second, 10 * (second + 17))))
    return segment


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_given", [True, False])
def test_an_import_with_end_offsets_has_lag_and_without_them_an_estimate_that_is_marked(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path, is_given: bool
) -> None:
    settings.VAR, settings.STORE_URL = tmp_path, str(tmp_path / "store")
    monkeypatch.setattr(tasks.run_import, "delay", lambda pk: None)
    segment = log_of_a_handover()
    begin_ms = START_MS + 2_000
    lines = "".join(
        f"{begin_ms + 1_000 * second},foo,0,{10 * second},{105 if second > 13 else 0}\n"
        for second in range(60)
    )
    files = {
        "files": [SimpleUploadedFile("0.log", segment.bytes())],
        "paths": ["__consumer_offsets-17/0.log"],
    }
    if is_given:
        files["end_offsets"] = [SimpleUploadedFile("ends.csv", lines.encode())]
    found = lifecycle.perform(Client().post("/api/imports", files).json()["import"])
    timeline = found.timelines.get()
    storage.frame_at(timeline, timeline.last)

    answer = orjson.loads(Client().get(f"/api/timelines/{timeline.pk}/lag").content)
    [*_, handover] = answer["rebalances"]
    if not is_given:
        assert (answer["times_ms"], handover["records_waited"]) == ([], None)
        assert handover["estimate"] == {"records_waited": 60, "caught_up_ms": handover["settled_ms"] + 6_000}
        assert "file of them" in answer["problem"]
        return
    assert (answer["problem"], handover["estimate"]) == (None, None)
    assert max(each or 0 for each in answer["total"]["records"]) == 70
    assert handover["records_waited"] == 60
    assert handover["caught_up_ms"] - handover["settled_ms"] == 6_000
    assert answer["lost"] == [{"partition": "foo-0", "records": 5, "at_ms": begin_ms + 14_000}]


def test_an_upload_with_bad_end_offsets_is_refused_and_keeps_nothing(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path, db: None
) -> None:
    settings.VAR = tmp_path
    files = {
        "files": [SimpleUploadedFile("0.log", sample_group().bytes())],
        "paths": ["p/0.log"],
        "end_offsets": SimpleUploadedFile("ends.csv", b"1795343400,o,0,5\n1795343400,o,0"),
    }
    refused = Client().post("/api/imports", files)
    assert refused.status_code == 400
    error = refused.json()["error"]
    assert error["message"].startswith("The file of end offsets: line 2: 3 columns")
    assert error["field"] == "end_offsets"
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
