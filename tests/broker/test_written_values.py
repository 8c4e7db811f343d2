"""Kafka's own classes read what is written here, and still make the fixtures, where its jars and a Java are at hand."""

from pathlib import Path

import pytest

from tests.wire import kafka_program, kafka_schemas, written_here
from tests.wire.kafka_made import FOLDER, lines
from tests.wire.other_releases import OTHER_RELEASES

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("released_jars")]


def test_kafka_reads_in_our_bytes_the_values_that_were_written() -> None:
    *wrong, counts = kafka_program.check(written_here.lines(each=3))
    assert wrong == []
    assert counts["read"] > 500


def test_the_released_jars_still_make_the_committed_fixtures(tmp_path: Path) -> None:
    kafka_program.write_release(tmp_path)
    made = {path.name.removesuffix(".jsonl.gz") for path in tmp_path.iterdir()}
    others = {other.file for other in OTHER_RELEASES}
    assert made | others == {path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.gz")}
    for name in made:
        assert lines(name, tmp_path) == lines(name), name


def test_the_message_files_in_the_jars_still_make_the_committed_schemas() -> None:
    fresh = kafka_schemas.texts()
    assert {path: path.read_text() for path in kafka_schemas.FOLDER.glob("*.py")} == {
        **fresh,
        kafka_schemas.FOLDER / "__init__.py": (kafka_schemas.FOLDER / "__init__.py").read_text(),
    }, "run: python -m tests.wire.kafka_schemas"
    assert len(fresh) == 7
