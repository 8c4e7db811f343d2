"""One incident in every form in which it is sent: the same entries wherever the form carries them, and what it does not carry is named."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from groups.pipeline.reading.splitting import Listing, list_sources
from groups.places import ROOT
from tests.pipeline.folds import Folds, fold_paths

pytestmark = pytest.mark.once

SAMPLE = ROOT / "groups" / "samples" / "orders-enrich" / "segments"
DUMPED = ROOT / "tests" / "wire" / "fixtures" / "dumped"
TIMELINES = ["orders-enrich#1", "payments-audit#1"]

Form = Callable[[Path], list[Path]]


def text_of(*names: str) -> str:
    return "".join(gzip.decompress((DUMPED / f"{name}-4.3.1.txt.gz").read_bytes()).decode() for name in names)


def packed(kind: str) -> Form:
    return lambda folder: [Path(shutil.make_archive(str(folder / "sent"), kind, SAMPLE))]


def written(text: str, encoding: str = "utf-8") -> Form:
    def write(folder: Path) -> list[Path]:
        path = folder / "ticket.txt"
        path.write_bytes(text.encode(encoding))
        return [path]

    return write


FORMS: dict[str, Form] = {
    "tar": packed("tar"),
    "tar.gz": packed("gztar"),
    "zip": packed("zip"),
    "dump": written(text_of("offsets", "metadata")),
    "dump from PowerShell": written(text_of("offsets", "metadata"), "utf-16"),
    "dump, packed": lambda folder: [
        Path(shutil.copy(DUMPED / f"{name}-4.3.1.txt.gz", folder)) for name in ("offsets", "metadata")
    ],
}


def fold(folder: Path, form: Form) -> Folds:
    given = folder / "given"
    given.mkdir()
    return fold_paths(*map(str, form(given)), scratch=str(folder / "scratch"))


@pytest.fixture(scope="module")
def as_segments(tmp_path_factory: pytest.TempPathFactory) -> Folds:
    return fold(tmp_path_factory.mktemp("segments"), lambda _: [SAMPLE])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_an_incident_has_the_same_entries_in_every_form(
    tmp_path: Path, as_segments: Folds, form: Form
) -> None:
    found = fold(tmp_path, form)

    assert sorted(found.timelines) == sorted(as_segments.timelines) == TIMELINES
    for timeline in TIMELINES:
        assert found.entries(timeline) == as_segments.entries(timeline)
    assert found.lines[-1]["records"]["skipped"] == []


def listed(tmp_path: Path, text: str) -> Listing:
    path = tmp_path / "ticket.txt"
    path.write_text(text)
    return list_sources([str(path)], scratch=tmp_path / "scratch")


def test_the_report_says_what_a_text_is_and_which_partition_it_is_of(tmp_path: Path) -> None:
    sources = listed(tmp_path, text_of("offsets")).sources

    assert [(one.words(), one.partition) for one in sources] == [
        ("segment, made of kafka-dump-log text", 1),
        ("segment, made of kafka-dump-log text", 3),
    ]


def test_lines_that_were_cut_are_listed_with_their_number_and_the_board_has_a_gap(tmp_path: Path) -> None:
    text = re.sub(r"(?m)^(\| offset: 20 .{120}).*$", r"\1", text_of("offsets"), count=1)
    folds = fold(tmp_path, written(text))

    [skipped] = folds.lines[-1]["records"]["skipped"]
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "| offset: 20 " in one)
    assert skipped["reason"].startswith(f"line {line}: the line is cut off within its")
    assert skipped["offset"] == 20
    gaps = [note for note in folds.notes("orders-enrich#1") if note["note"] == "gap"]
    assert [(gap["reason"][:34], gap["from_offset"] <= 20 <= gap["to_offset"]) for gap in gaps] == [
        ("these offsets are not in the text:", True)
    ]


def test_a_record_longer_than_the_bound_is_said_to_be_too_long_and_not_cut(tmp_path: Path) -> None:
    text = re.sub(
        r"(?m)^(\| offset: 20 .*key: )", lambda found: found[1] + " " * (4 << 20), text_of("offsets"), count=1
    )

    reasons = [problem.reason for problem in listed(tmp_path, text).problems]

    assert "the record has more than 4,194,304 characters, the most that is read of one" in reasons[0]


def test_lines_that_are_not_understood_are_listed_up_to_a_bound(tmp_path: Path) -> None:
    text = re.sub(r"(?m)^(\| offset: \d+ .{60}).*$", r"\1", text_of("offsets"))

    reasons = [problem.reason for problem in listed(tmp_path, text).problems]

    assert len(reasons) == 21
    assert re.fullmatch(r"[\d,]+ more lines of records are not understood", reasons[-1])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            re.sub(r"(?m)^\|.*\n", "", text_of("offsets")),
            "prints none: dump again with --print-data-log --offsets-decoder",
        ),
        (re.sub(r"key: \{.*", "key: ?? payload: ??", text_of("offsets")), "are not printed as JSON"),
        (re.sub(r',"topicId":"[^"]*"', "", text_of("offsets")), "the tool is older than the broker"),
        (
            f"It hangs since noon:\n{text_of('offsets')}",
            "line 1 is no part of kafka-dump-log text, and passed over",
        ),
    ],
)
def test_what_a_text_cannot_carry_is_named_with_what_would_be_right(
    tmp_path: Path, text: str, says: str
) -> None:
    [problem] = listed(tmp_path, text).problems

    assert says in problem.reason
    assert "\n" not in problem.reason
