"""Groups that an earlier attempt of an import has finished: the next one takes over their timelines and folds the others.

Once a pack is whole, a file next to it has the lines of what is in it, and the groups that had ended by then. A group is finished once
such a file lists it; lines of others are left out. A group is folded to the same whoever folds it, so of two attempts that
finished it either counts. These files go with the import's end, as all that no timeline needs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import cramjam
import orjson

from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.packs.files import Files
from groups.packs.packs import SUFFIX as PACK_SUFFIX

SUFFIX: Final = ".finished"


class Line(NamedTuple):
    """A line of folding's output that belongs to a group; ``number`` is the timeline's, 0 of ``repeated``."""

    group: str
    number: int
    kind: str
    payload: str


class Finished(NamedTuple):
    """``lines`` are those of the finished ``groups``."""

    groups: frozenset[str] = frozenset()
    lines: Sequence[Line] = ()


def key_of(sizes: Iterable[int]) -> str:
    """What finished groups must share to be taken over: the fold, and the files by their sizes."""
    return hashlib.sha256(orjson.dumps([FOLD_VERSION, ENTRY_FORMAT, *sizes])).hexdigest()[:12]


def keep_finished(files: Files, key: str, pack: str, groups: Sequence[str], lines: Sequence[Line]) -> None:
    writing = files.begin(pack.rpartition("/")[0])
    writing.write(bytes(cramjam.zstd.compress(orjson.dumps([groups, [tuple(line) for line in lines]]))))
    writing.keep(f"{pack.removesuffix(PACK_SUFFIX)}.{key}{SUFFIX}")


def finished_in(files: Files, folder: str, key: str) -> Finished:
    """What earlier attempts have finished in the import's folder."""
    groups: set[str] = set()
    lines: dict[tuple[str, int, str], Line] = {}
    for name in files.names(folder):
        if name.endswith(f".{key}{SUFFIX}"):
            packed = files.read(name, 0, files.size(name))
            ended, some = orjson.loads(bytes(cramjam.zstd.decompress(packed)))
            groups.update(ended)
            for line in map(Line._make, some):
                lines.setdefault(line[:3], line)
    return Finished(frozenset(groups), [line for line in lines.values() if line.group in groups])
