"""Archives are recognised by content and unpacked within bounds; what is refused of them has one line each."""

from __future__ import annotations

import gzip
import io
import random
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.pipeline.reading import archives
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.splitting import Listing, list_sources
from groups.pipeline.reading.zstd_frames import most_bytes
from tests.pipeline.segments import Group, Segment, sample_group

pytestmark = pytest.mark.once

Content = Mapping[str, bytes]
ORDERS = "__consumer_offsets-17/00000000000000000000.log"
OTHERS = "__consumer_offsets-3/00000000000000000000.log"


def folder() -> dict[str, bytes]:
    return {
        ORDERS: sample_group().bytes(),
        "__consumer_offsets-17/00000000000000000000.index": bytes(10 << 20),
        "__consumer_offsets-17/leader-epoch-checkpoint": b"0\n1\n0 0\n",
        OTHERS: Segment().add(Group("others").join("A", {})).bytes(),
    }


def tar(content: Content, prefix: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in content.items():
            entry = tarfile.TarInfo(prefix + name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def zip_(content: Content, prefix: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(prefix + name, data)
    return out.getvalue()


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def zst(data: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(data))


def opened(tmp_path: Path, data: bytes, name: str = "attachment.bin") -> Listing:
    path = tmp_path / "in" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return list_sources([str(path)], scratch=tmp_path / "scratch")


def reasons(listing: Listing) -> list[str]:
    found = [problem.reason for problem in listing.problems]
    assert not any("\n" in reason for reason in found)
    return found


@pytest.mark.parametrize(
    ("pack", "origin"),
    [
        (tar, "unpacked from tar"),
        (lambda some: gz(tar(some)), "unpacked from tar.gz"),
        (lambda some: zst(tar(some)), "unpacked from tar.zst"),
        (zip_, "unpacked from zip"),
        (lambda some: tar(some, "./backup/broker-1/"), "unpacked from tar"),
        (lambda some: zip_(some, "backup/"), "unpacked from zip"),
    ],
)
def test_a_packed_folder_has_the_segments_of_the_folder_under_any_name(
    tmp_path: Path, pack: Callable[[Content], bytes], origin: str
) -> None:
    listing = opened(tmp_path, pack(folder()))

    assert listing.problems == ()
    found = {source.file: source for source in listing.sources}
    assert sorted(found) == [f"in/attachment.bin: {name}" for name in sorted((ORDERS, OTHERS))]
    orders = found[f"in/attachment.bin: {ORDERS}"]
    assert (orders.partition, orders.kind, orders.words()) == (17, FileKind.OFFSETS, f"segment, {origin}")
    assert Path(orders.path).read_bytes() == folder()[ORDERS]
    assert Path(orders.path).is_relative_to(tmp_path / "scratch")


@pytest.mark.parametrize("pack", [gz, zst])
def test_a_packed_segment_has_the_partition_of_the_folder_that_it_is_in(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    place = tmp_path / "__consumer_offsets-9" / "0.log.packed"
    place.parent.mkdir()
    place.write_bytes(pack(sample_group().bytes()))

    [source] = list_sources([str(place)], scratch=tmp_path / "scratch").sources

    assert (source.partition, source.kind) == (9, FileKind.OFFSETS)
    assert source.file == "__consumer_offsets-9/0.log.packed"


def test_an_archive_that_is_named_as_a_partition_tells_it_of_loose_segments(tmp_path: Path) -> None:
    listing = opened(tmp_path, tar({"0.log": sample_group().bytes()}), "__consumer_offsets-4.tar")

    assert [source.partition for source in listing.sources] == [4]


def test_two_members_of_one_name_are_both_read(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for data in (sample_group().bytes(), sample_group().bytes()[:-9]):
            entry = tarfile.TarInfo(ORDERS)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))

    assert sorted(source.bytes for source in opened(tmp_path, out.getvalue()).sources) == [
        len(sample_group().bytes()) - 9,
        len(sample_group().bytes()),
    ]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused_and_the_rest_is_read(tmp_path: Path, kind: bytes) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo("__consumer_offsets-1/0.log")
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
        data = sample_group().bytes()
        entry = tarfile.TarInfo(ORDERS)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))

    listing = opened(tmp_path, out.getvalue())

    [problem] = listing.problems
    assert problem.file == "in/attachment.bin: __consumer_offsets-1/0.log"
    assert problem.reason in ("a link: refused", "a device or a pipe: refused")
    assert [source.partition for source in listing.sources] == [17]


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo(ORDERS)
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")

    assert reasons(opened(tmp_path, out.getvalue())) == ["a link or a device: refused"]


@pytest.mark.parametrize("pack", [tar, zip_])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../__consumer_offsets-1/0.log", "its path leads out of the archive: refused"),
        ("/var/kafka/__consumer_offsets-1/0.log", "its path is absolute: refused"),
        ("C:\\kafka\\__consumer_offsets-1\\0.log", "its path is absolute: refused"),
    ],
)
def test_paths_that_lead_elsewhere_are_refused_and_nothing_is_written_there(
    tmp_path: Path, pack: Callable[[Content], bytes], name: str, reason: str
) -> None:
    listing = opened(tmp_path, pack({name: sample_group().bytes(), ORDERS: sample_group().bytes()}))

    assert reasons(listing) == [reason]
    assert [source.partition for source in listing.sources] == [17]
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"attachment.bin", "2"}


@pytest.mark.parametrize("inner", [gz(b"some"), zst(b"some"), zip_({"a": b"b"}), tar({"a": b"b"})])
@pytest.mark.parametrize("pack", [tar, zip_])
def test_an_archive_within_an_archive_is_listed_by_its_name(
    tmp_path: Path, pack: Callable[[Content], bytes], inner: bytes
) -> None:
    listing = opened(tmp_path, pack({"backup/inner.bin": inner, ORDERS: sample_group().bytes()}))

    [problem] = listing.problems
    assert problem.file == "in/attachment.bin: backup/inner.bin"
    assert "within an archive: unpack it" in problem.reason
    assert [source.partition for source in listing.sources] == [17]


@pytest.mark.parametrize("pack", [lambda some: gz(tar(some)), lambda some: zst(tar(some)), zip_])
def test_a_bomb_is_refused_whole_and_nothing_of_it_stays(
    tmp_path: Path, pack: Callable[[Content], bytes]
) -> None:
    data = pack({ORDERS: sample_group().bytes(), OTHERS: bytes(65 << 20)})

    listing = opened(tmp_path, data)

    assert listing.sources == ()
    assert reasons(listing) == [
        f"its {len(data):,} bytes unpack to more than 200 times as much, which no log does: nothing of it is read"
    ]
    assert not [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "pack", [gz, zst, lambda data: tar({"0.log": data}), lambda data: zip_({"0.log": data})]
)
def test_what_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(archives, "UNPACKED_BYTES_MOST", 1000)

    assert reasons(opened(tmp_path, pack(random.Random(1).randbytes(2000)))) == [
        "what was packed can come to more than 1,000 bytes: unpack it, and give the folders of the offsets topic alone"
    ]


def test_members_and_their_reasons_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = {f"../{number}": b"" for number in range(30)}

    listing = opened(tmp_path, zip_(outside))
    monkeypatch.setattr(archives, "FILES_MOST", 29)

    assert len(listing.problems) == 21
    assert reasons(listing)[-1] == "10 more members are refused likewise"
    assert "more than 29 members" in reasons(opened(tmp_path, tar(outside)))[0]


def test_folders_of_partitions_are_bounded_as_each_takes_long_to_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "PARTITIONS_MOST", 4)
    path = tmp_path / "logs.tar"
    unpacking = archives.Unpacking(tmp_path / "scratch")
    partitions = [f"__consumer_offsets-{number}" for number in range(5)]

    path.write_bytes(tar({f"{name}/{file}.log": b"other" for name in partitions[:4] for file in range(2)}))
    kept = unpacking.unpack(path, archives.Packing.TAR)
    path.write_bytes(tar({f"{name}/0.log": b"other" for name in partitions}))
    refused = unpacking.unpack(path, archives.Packing.TAR)

    assert len(kept) == 8
    assert [member.reason for member in refused] == ["more than 4 partitions, which no offsets topic has"]
    assert not (tmp_path / "scratch" / "2").exists()


def test_headers_and_lists_that_fill_memory_are_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo("a")
        entry.pax_headers = {"comment": "x" * (2 << 20)}
        archive.addfile(entry)
    hostile = bytearray(zip_({"a": b"b"}))
    struct.pack_into("<L", hostile, len(hostile) - 10, 1 << 30)

    assert "headers of more than 1,048,576 bytes" in reasons(opened(tmp_path, gz(out.getvalue())))[0]
    assert "list of members is larger than" in reasons(opened(tmp_path, bytes(hostile)))[0]


@pytest.mark.parametrize(
    "pack", [tar, lambda some: gz(tar(some)), lambda some: zst(tar(some)), lambda some: gz(some[ORDERS])]
)
def test_of_an_archive_that_was_cut_off_what_came_before_is_read(
    tmp_path: Path, pack: Callable[[Content], bytes]
) -> None:
    data = pack({ORDERS: sample_group().bytes() + random.Random(2).randbytes(600_000)})

    listing = opened(tmp_path, data[: len(data) * 2 // 3])

    [source] = listing.sources
    assert source.kind is FileKind.OFFSETS
    assert "is damaged or cut short: 1 file before that read" in reasons(listing)[0]


def test_other_packings_are_named_with_what_to_send(tmp_path: Path) -> None:
    listing = opened(tmp_path, b"7z\xbc\xaf\x27\x1c" + bytes(600))

    assert reasons(listing) == [
        "packed with 7-Zip, which is not opened here: send the folder as .tar.gz, .zip or .zst"
    ]


def test_archives_stay_closed_where_no_folder_is_given(tmp_path: Path) -> None:
    path = tmp_path / "some.zip"
    path.write_bytes(zip_(folder()))

    assert [source.kind for source in list_sources([str(path)]).sources] == [FileKind.NOT_A_SEGMENT]


def test_members_that_are_refused_are_bounded_without_comparing_each_with_each() -> None:
    class Name(str):
        compared = 0

        def __eq__(self, other: object) -> bool:
            Name.compared += 1
            return str(self) == other

        __hash__ = str.__hash__

    refused = [
        archives.Member(Name(number), archives.Packing.TAR, None, "a link: refused")
        for number in range(2_000)
    ]
    read = archives.Member("segment", archives.Packing.TAR, Path("segment"))

    found = archives._bounded([*refused, read], archives.Packing.TAR)

    assert found[:20] == refused[:20]
    assert found[20:] == [read, archives.Member("", archives.Packing.TAR, None, "1,980 more members are refused likewise")]  # fmt: skip
    assert Name.compared < 10 * len(refused)


def test_members_cost_the_disk_a_file_each_and_those_without_bytes_one_together(tmp_path: Path) -> None:
    empty = {f"empty/{number}": b"" for number in range(300)}
    others = {f"__consumer_offsets-4/{number}.log": b"other" for number in range(5)}
    path = tmp_path / "logs.tar"
    path.write_bytes(tar(empty | others))
    unpacking = archives.Unpacking(tmp_path / "scratch")

    found = unpacking.unpack(path, archives.Packing.TAR)

    assert len({member.path for member in found}) == 6
    assert len(found) == unpacking.members == 305
    assert len(list((tmp_path / "scratch" / "1").rglob("*"))) == 2 + 1 + 5


@given(parts=st.lists(st.binary(max_size=300_000) | st.integers(1, 400_000).map(bytes), max_size=4))
def test_the_bound_of_a_zstandard_file_is_never_less_than_what_comes_out(parts: list[bytes]) -> None:
    data = b"".join(zst(part) for part in parts)

    assert most_bytes(data) >= sum(map(len, parts))


@given(
    pack=st.sampled_from([tar, zip_, lambda some: gz(tar(some)), lambda some: zst(tar(some))]),
    damage=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=6),
    keep=st.floats(0, 1),
)
def test_no_damage_to_an_archive_ends_an_import(
    tmp_path_factory: pytest.TempPathFactory,
    pack: Callable[[Content], bytes],
    damage: list[tuple[float, int]],
    keep: float,
) -> None:
    data = bytearray(pack({ORDERS: sample_group().bytes(), OTHERS: b"other"}))
    for place, byte in damage:
        data[int(place * len(data))] = byte
    place = tmp_path_factory.mktemp("damaged")

    listing = opened(place, bytes(data[: int(keep * len(data))]))

    reasons(listing)
    assert all(Path(source.path).is_relative_to(place) for source in listing.sources)
