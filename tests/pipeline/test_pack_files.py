"""Files of a store, and packs in them: whole or not there, read blob by blob, and damage told in one line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson
import pytest

from groups.history.passes.indexing import Indexer
from groups.packs.files import UNFINISHED, ArrowFiles, DamagedFile, Files, Folder, MissingFile, open_files
from groups.packs.index import read_checkpoint
from groups.packs.opening import open_chunk
from groups.packs.packs import PACK_BYTES, PackWriter, Place, read_blob
from tests.benchmarks.generated.mixes import churn
from tests.pipeline.folds import MemoryFiles, fold_paths


def arrow(folder: Path) -> Files:
    from pyarrow import fs

    folder.mkdir()
    return ArrowFiles(fs.LocalFileSystem(), str(folder))


def arrow_in_memory(folder: Path) -> Files:
    from pyarrow.fs import _MockFileSystem

    return ArrowFiles(_MockFileSystem(), "a/store")


Stores = Callable[[Path], Files]


stores = pytest.mark.parametrize("store", [Folder, arrow, arrow_in_memory])


@pytest.fixture
def files(store: Stores, tmp_path: Path) -> Files:
    return store(tmp_path / "store")


@stores
def test_a_file_is_there_under_its_name_when_it_is_whole(files: Files) -> None:
    writing = files.begin("one")
    writing.write(b"some ")
    assert all(UNFINISHED in name for name in files.names("one"))
    writing.write(b"bytes")
    writing.keep("one/whole")

    assert files.names() == files.names("one") == ["one/whole"]
    assert files.size("one/whole") == 10
    assert files.read("one/whole", 5, 5) == b"bytes"
    assert files.names("two") == []


@stores
def test_a_file_that_is_dropped_was_never_there(files: Files) -> None:
    writing = files.begin("one")
    writing.write(b"some bytes")
    writing.drop()

    assert files.names() == []


@stores
def test_what_is_gone_or_cut_off_is_told_in_one_line(files: Files) -> None:
    writing = files.begin("one")
    writing.write(b"some bytes")
    writing.keep("one/whole")

    with pytest.raises(
        MissingFile, match=r"^one/gone is not in the store: its file was removed from outside$"
    ):
        files.read("one/gone", 0, 1)
    with pytest.raises(MissingFile, match=r"^one/whole ends after 10 bytes; 12 were expected$"):
        files.read("one/whole", 8, 4)


@stores
def test_files_and_folders_are_removed_and_nothing_else(files: Files) -> None:
    for name in ("one/a", "one/b", "two/c"):
        writing = files.begin(name.partition("/")[0])
        writing.write(name.encode())
        writing.keep(name)

    files.remove("one/a")
    assert files.names() == ["one/b", "two/c"]
    files.remove("one/gone")
    files.remove("one")
    assert files.names() == ["two/c"]


@stores
def test_blobs_are_read_one_by_one_from_a_pack_that_its_content_names(files: Files) -> None:
    blobs = [b"", b"one", b"two" * 10_000]
    names, places = [], []
    for _ in range(2):
        packs = PackWriter(files, "folder")
        places = [packs.add(blob) for blob in blobs]
        names.append(packs.close().name)

    assert names[0] == names[1]
    assert files.names() == [names[0]]
    for blob, place in reversed(list(zip(blobs, places, strict=True))):
        assert read_blob(files, place._replace(pack=names[0])) == blob


@stores
def test_blobs_that_share_a_compression_are_read_each_by_itself(files: Files) -> None:
    packs = PackWriter(files, "folder")
    alone = packs.add(b"alone")
    given: list[tuple[bytes, Place]] = []
    for number in range(60):
        # Each timeline's two stand together, whatever else is written and however large they are.
        blobs = [b"%d: the same words of another group, " % number * 600, b"%d" % number]
        given += [(blob, packs.share(blob)) for blob in blobs]
        packs.rest()
    late = packs.add(b"late")
    pack = packs.close()

    assert len(pack.shared) == 3
    assert files.names() == [pack.name]
    assert files.size(pack.name) < 10_000
    for blob, place in reversed([(b"alone", alone), *given, (b"late", late)]):
        assert read_blob(files, pack.place(place)) == blob
    of_one = [pack.place(place) for _, place in given[:2]]
    assert of_one[0][:3] == of_one[1][:3]


def test_a_place_that_an_earlier_version_wrote_is_that_of_a_whole_blob() -> None:
    assert Place.of(["folder/a.pack", 5, 7]) == Place("folder/a.pack", 5, 7, 0, 0)


def test_a_folder_and_its_files_are_their_owners_alone(tmp_path: Path) -> None:
    files = Folder(tmp_path / "store")
    writing = files.begin("one")
    writing.write(b"some bytes")
    writing.keep("one/whole")

    assert (tmp_path / "store" / "one").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "store" / "one" / "whole").stat().st_mode & 0o777 == 0o600


def test_a_writer_that_wrote_nothing_leaves_no_pack_and_one_that_is_full_says_so() -> None:
    files = MemoryFiles()
    packs = PackWriter(files, "folder")
    assert packs.close().name == ""
    assert not packs.is_full
    packs.add(np.random.default_rng(1).bytes(PACK_BYTES))
    assert packs.is_full
    packs.close()
    assert not packs.is_full
    packs.add(b"half")
    packs.drop()

    assert len(files.names()) == 1


def test_a_blob_that_was_damaged_is_an_error_and_never_other_bytes() -> None:
    files = MemoryFiles()
    packs = PackWriter(files, "folder")
    place = packs.add(b"some bytes that are long enough to be compressed" * 9)
    name = packs.close().name
    files.held[name] = b"\0" * len(files.held[name])

    with pytest.raises(DamagedFile, match=f"^{name} is damaged at byte 0: import its log again$"):
        read_blob(files, Place(name, place.offset, place.length))


def test_a_path_and_its_url_are_one_folder(tmp_path: Path) -> None:
    assert open_files(str(tmp_path)) == open_files(f"file://{tmp_path}") == Folder(tmp_path)


def test_stored_logs_are_read_without_sparks_packages() -> None:
    """The web has no need of them: they are loaded by nothing that opens a chunk."""
    program = (
        "import sys, groups.packs.opening, groups.packs.open_child\n"
        "print([name for name in ('numpy', 'pyarrow', 'pyspark', 'django') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


def test_of_the_first_chunk_no_checkpoint_is_stored_and_every_chunk_opens_by_itself(tmp_path: Path) -> None:
    written = churn(tmp_path, 1_500, groups=1, members=6)
    folds = fold_paths(*map(str, written.files))
    [timeline] = folds.timelines
    index = folds.index(timeline)
    lengths = [chunk["checkpoint"][2] for chunk in index["chunks"]]
    assert lengths[0] == 0
    assert len(lengths) > 1
    assert all(lengths[1:])
    [group] = written.groups
    assert read_checkpoint(folds.files, index["chunks"][0]) == Indexer(group=group).checkpoint()
    for chunk in reversed(index["chunks"]):
        opened = open_chunk(folds.files, chunk)
        assert orjson.loads(opened.frame)["sequence"] == chunk["first"] - 1
        assert orjson.loads(opened.frame)["group"] == group
