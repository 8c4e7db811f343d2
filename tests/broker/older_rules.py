"""The rules that separate the releases before 4.3, asked of a real broker: on which side of each it is.

``python -m tests.broker.older_rules [RELEASE…]`` starts a broker of each release and prints a table: ``old`` is what
``docs/reference/releases.md`` says of the releases before, ``new`` what it says of the others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from . import played
from .acting import Group
from .classic.acting import Classic
from .classic.transcript import Transcript
from .node import Node, running
from .releases import RELEASES
from .rpc import RpcError
from .segments import payloads

FENCED_MEMBER_EPOCH: Final = 110
STALE_MEMBER_EPOCH: Final = 113
REBALANCE_IN_PROGRESS: Final = 27

RESOLVED_S: Final = 2.0
"""A regular expression is resolved beside the heartbeats."""

ROUNDS_MOST: Final = 40
"""In which a classic member among others comes to rest: two or three are needed."""

Records = list[dict[str, Any]]
Found = bool | Callable[[Records], bool]
"""Whether the broker is on the new side, or how its records show that."""

PROBES: Final[dict[str, Callable[[Group], Found]]] = {}


def probe(rule: str) -> Callable[[Callable[[Group], Found]], Callable[[Group], Found]]:
    def kept(play: Callable[[Group], Found]) -> Callable[[Group], Found]:
        PROBES[rule] = play
        return play

    return kept


def _values(records: Records, record_type: int) -> list[dict[str, Any]]:
    return [each["value"] for each in records if each["type"] == record_type and each["value"] is not None]


def _is_refused(send: Callable[..., object], code: int) -> bool:
    """Whether it is answered with this code, and not accepted."""
    try:
        send()
    except AssertionError:
        send(error=code)
        return True
    return False


def _one_member(group: Group) -> None:
    group.topic("foo", 2)
    group.join("A", ["foo"])


@probe("epoch_has_metadata_hash")
def _(group: Group) -> Found:
    _one_member(group)

    def shown(records: Records) -> bool:
        has_hash = bool(_values(records, 3)[0].get("metadataHash"))
        has_topics = bool(_values(records, 4))
        assert has_hash != has_topics, records
        return not has_topics

    return shown


@probe("commit_by_name_has_topic_id")
def _(group: Group) -> Found:
    _one_member(group)
    group.commit("A", None, "foo", {0: 1}, version=9)
    return lambda records: group.ids["foo"] in {value.get("topicId") for value in _values(records, 1)}


@probe("commit_by_topic_id")
def _(group: Group) -> Found:
    _one_member(group)
    try:
        group.commit("A", None, "foo", {0: 1}, version=10)
    except RpcError:
        return False
    return lambda records: {value.get("topicId") for value in _values(records, 1)} == {group.ids["foo"]}


@probe("rejoining_member_accepted")
def _(group: Group) -> Found:
    group.topic("foo", 4)
    group.at_once()
    for member in "AB":
        group.join(member, ["foo"])
        group.settle(*"AB"[: "AB".index(member) + 1])
    return not _is_refused(lambda **error: group.join("A", ["foo"], **error), FENCED_MEMBER_EPOCH)


@probe("revoked_goes_to_target_epoch")
def _(group: Group) -> Found:
    group.topic("foo", 6)
    group.at_once()
    group.join("A", ["foo"])
    epoch = group.epochs["A"]
    group.join("B", ["foo"])
    group.beat("A")
    assert group.epochs["A"] == epoch, "it is asked to revoke, and stays where it is"
    for member in "CD":
        group.join(member, ["foo"])
    found = group.ack("A")["memberEpoch"]
    assert found in {epoch, epoch + 1}, (epoch, found)
    assert group.ack("A")["memberEpoch"] == epoch + 3, "there is nothing more to revoke"
    return bool(found == epoch)


@probe("dropped_regex_bumps")
def _(group: Group) -> Found:
    group.topic("foo", 2)
    group.at_once()
    # It matches the topic that is named, too: otherwise other topics alone would raise the epoch.
    group.join("A", ["foo"], subscribedTopicRegex=f"{group.name}[.]fo.")
    group.pause(RESOLVED_S)
    group.settle("A")
    before = group.describe()["groupEpoch"]
    group.beat("A", subscribedTopicRegex="")
    return bool(group.describe()["groupEpoch"] > before)


@probe("first_epoch_is_two")
def _(group: Group) -> Found:
    _one_member(group)

    def shown(records: Records) -> bool:
        first = _values(records, 3)[0]["epoch"]
        assert first in {1, 2}, first
        return bool(first == 2)

    return shown


@probe("target_has_time")
def _(group: Group) -> Found:
    _one_member(group)
    return lambda records: bool(_values(records, 6)[0].get("assignmentTimestamp"))


@probe("assignment_epochs")
def _(group: Group) -> Found:
    group.topic("foo", 2)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", ["foo"])
    epoch = group.epochs["A"]
    group.join("B", ["bar"])
    group.settle("A", "B")
    assert group.epochs["A"] > epoch

    def commit(error: int = 0) -> None:
        group.commit("A", epoch, "foo", {0: 1}, version=9, codes=[error])

    return not _is_refused(commit, STALE_MEMBER_EPOCH)


@probe("classic_told_by_target_epoch")
def _(group: Group) -> Found:
    group.topic("foo", 6)
    group.at_once()
    for member in "AB":
        group.join(member, ["foo"])
    group.settle("A", "B")
    classic = Classic(group.node, group.name, Transcript(group=group.name, settings={}, topics={}))
    try:
        _settle_with(classic, group)
        group.leave("B")
        [first, second] = [_code(classic.beat("K")), (group.ack("A"), _code(classic.beat("K")))[1]]
        assert second == REBALANCE_IN_PROGRESS, "the target is made with the heartbeat of another one"
        assert first in {0, REBALANCE_IN_PROGRESS}, first
        return first == 0
    finally:
        classic.close()


def _settle_with(classic: Classic, group: Group) -> None:
    """Lets a classic member join the others, and all of them come to rest."""
    topics = [group.full("foo")]
    code = REBALANCE_IN_PROGRESS
    for _ in range(ROUNDS_MOST):
        if code:
            assert code == REBALANCE_IN_PROGRESS, code
            classic.enter("K", topics=topics)
            classic.sync("K")
        for member in "AB":
            group.ack(member)
        code = _code(classic.beat("K"))
        if not code and group.describe()["groupState"] == "Stable":
            return
    raise AssertionError(f"{group.name} does not come to rest")


def _code(sent: Any) -> int:
    assert sent.answer is not None
    return int(sent.answer["errorCode"])


def asked(release: str) -> dict[str, str]:
    """By rule ``old`` or ``new``, or why neither was seen."""
    found: dict[str, str] = {}
    waiting: dict[str, Callable[[Records], bool]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), played.SETTINGS, release=release) as node,
    ):
        for rule, play in PROBES.items():
            try:
                shown = _played(node, rule, play)
            except Exception as problem:
                found[rule] = f"{type(problem).__name__}: {problem}"[:300]
                continue
            if callable(shown):
                waiting[rule] = shown
            else:
                found[rule] = _side(shown)
        node.stop()
        for rule, of_records in waiting.items():
            records = [payload for batch in payloads(node.data, rule) for _, _, payload in batch]
            found[rule] = _side(of_records(records))
    return found


def _played(node: Node, rule: str, play: Callable[[Group], Found]) -> Found:
    group = Group(node, rule)
    try:
        return play(group)
    finally:
        group.close()


def _side(new: bool) -> str:
    return "new" if new else "old"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("releases", nargs="*", default=RELEASES)
    releases = parser.parse_args().releases
    found = {release: asked(release) for release in releases}
    sys.stdout.write(f"| rule | {' | '.join(releases)} |\n|---|{'---|' * len(releases)}\n")
    for rule in PROBES:
        cells = [found[release][rule] for release in releases]
        sys.stdout.write(f"| `{rule}` | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
