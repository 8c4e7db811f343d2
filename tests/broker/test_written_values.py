"""Kafka's own classes read what is written here, and still make the fixtures, where its jars and a Java are at hand."""

from pathlib import Path

import pytest

from tests.wire import kafka_program, written_here
from tests.wire.kafka_made import FOLDER, lines

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("released_jars")]


def test_kafka_reads_in_our_bytes_the_values_that_were_written() -> None:
    *wrong, counts = kafka_program.check(written_here.lines(each=3))
    assert wrong == []
    assert counts["read"] > 500


def test_the_released_jars_still_make_the_committed_fixtures(tmp_path: Path) -> None:
    kafka_program.write_release(tmp_path)
    made = {path.name.removesuffix(".jsonl.gz") for path in tmp_path.iterdir()}
    others = {other.file for other in kafka_program.OTHER_RELEASES}
    assert made | others == {path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.gz")}
    for name in made:
        assert lines(name, tmp_path) == lines(name), name
