"""Kafka's ``kafka-consumer-groups``, called many times in one process, and what its tables say."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.broker.java import java
from tests.broker.node import Node, on_a_leash

SOURCE = Path(__file__).parent.parent / "java" / "ToolServer.java"

IN_TOOLS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
IN_CORE = "kafka.admin.ConsumerGroupCommand"
"""Where the class stands before 3.8."""

ASSIGNED = re.compile(r"([\w.-]+)[:(](\d[\d,]*)")
"""``foo:0,1;bar:2``; before 4.0 ``foo(0,1), bar(2)``."""


class MemberFacts(NamedTuple):
    """What a table says of a member; null where it has no such column."""

    partitions: frozenset[str]
    epoch: int | None = None
    target_epoch: int | None = None
    target: frozenset[str] | None = None


class GroupFacts(NamedTuple):
    """What the tables say of a group; epochs are null where the release's tables have none."""

    state: str
    members: dict[str, MemberFacts]
    group_epoch: int | None = None
    assignment_epoch: int | None = None


@dataclass(slots=True)
class Tool:
    """The tool of a broker's own release, asked over and over."""

    node: Node
    process: subprocess.Popen[str]
    read: Callable[[str, str], GroupFacts | None]
    """Its tables of members and of state as facts."""

    @property
    def tells_epochs(self) -> bool:
        """From 4.1 on (KIP-1099)."""
        return tuple(map(int, self.node.release.split(".")[:2])) >= (4, 1)

    def say(self, *words: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\t".join(("--bootstrap-server", self.node.bootstrap, *words)) + "\n")
        self.process.stdin.flush()
        return base64.b64decode(self.process.stdout.readline()).decode()

    def facts(self, group: str) -> GroupFacts | None:
        """The group by its two tables; null where the tool could not tell."""
        members = self.say("--describe", "--group", group, "--members", "--verbose")
        verbose = ("--verbose",) if self.tells_epochs else ()
        state = self.say("--describe", "--group", group, "--state", *verbose)
        if "Error" in members or "Error" in state:
            return None
        return self.read(members, state)


@contextmanager
def tool_of(
    node: Node,
    classes: Path,
    main: str | None = None,
    reads: Callable[[str, str], GroupFacts | None] | None = None,
) -> Iterator[Tool]:
    """The tool, ready to be asked: that of consumer groups, or another class with who reads its tables."""
    classes.mkdir(parents=True, exist_ok=True)
    # Debian's headless runtime holds the compiler's module without its command.
    compile_ = ["java", "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", str(classes), str(SOURCE)]
    subprocess.run(compile_, check=True, capture_output=True)
    main = main or (IN_TOOLS if node.has_dynamic_quorum else IN_CORE)
    process = subprocess.Popen(
        on_a_leash([*java(f"{node.class_path}:{classes}", "-Xmx256m"), "ToolServer", main]),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with process:
        try:
            yield Tool(node, process, reads or read)
        finally:
            process.kill()


def read(members: str, state: str) -> GroupFacts | None:
    """Both tables as facts; null where one has no row of the group."""
    states = rows(state)
    if len(states) != 1:
        return None
    told = states[0]
    found = {}
    for row in rows(members):
        partitions = row.get("CURRENT-ASSIGNMENT", row.get("ASSIGNMENT", "-"))
        target = row.get("TARGET-ASSIGNMENT")
        found[row["CONSUMER-ID"]] = MemberFacts(
            partitions=places(partitions),
            epoch=number(row.get("CURRENT-EPOCH")),
            target_epoch=number(row.get("TARGET-EPOCH")),
            target=None if target is None else places(target),
        )
    return GroupFacts(
        state=told["STATE"],
        members=found,
        group_epoch=number(told.get("GROUP-EPOCH")),
        assignment_epoch=number(told.get("TARGET-ASSIGNMENT-EPOCH")),
    )


def rows(text: str) -> list[dict[str, str]]:
    """A table's rows by its own heads; lines that say something else are passed over."""
    lines = [line for line in text.splitlines() if line.strip()]
    begin = next((at for at, line in enumerate(lines) if line.startswith("GROUP ")), None)
    if begin is None:
        return []
    head = lines[begin].replace("COORDINATOR (ID)", "COORDINATOR ID").split()
    found = []
    for line in lines[begin + 1 :]:
        cells = line.split(None, len(head) - 1)
        if len(cells) >= len(head) - 1:
            # A group without an assignor leaves that cell empty.
            if "ASSIGNMENT-STRATEGY" in head and len(cells) == len(head) - 1:
                cells.insert(head.index("ASSIGNMENT-STRATEGY"), "")
            found.append(dict(zip(head, cells, strict=False)))
    return found


def places(cell: str) -> frozenset[str]:
    return frozenset(
        f"{topic}-{partition}"
        for topic, numbers in ASSIGNED.findall(cell)
        for partition in numbers.split(",")
    )


def number(cell: str | None) -> int | None:
    return int(cell) if cell is not None and re.fullmatch(r"-?\d+", cell) else None


def differences(ours: GroupFacts, theirs: GroupFacts) -> list[str]:
    """Where the two differ. What the tool's release has no column for is not compared; nothing else is left out."""
    found = []
    if ours.state != theirs.state:
        found.append(f"state: {ours.state}, tool {theirs.state}")
    for name in ("group_epoch", "assignment_epoch"):
        was, now = getattr(ours, name), getattr(theirs, name)
        if now is not None and was != now:
            found.append(f"{name}: {was}, tool {now}")
    for member in sorted(ours.members.keys() | theirs.members.keys()):
        mine, its = ours.members.get(member), theirs.members.get(member)
        if mine is None or its is None:
            found.append(f"{member}: {'missing' if mine is None else 'not in the tool'}")
            continue
        if mine.partitions != its.partitions:
            found.append(f"{member}: has {sorted(mine.partitions)}, tool {sorted(its.partitions)}")
        for name in ("epoch", "target_epoch", "target"):
            was, now = getattr(mine, name), getattr(its, name)
            if now is not None and was != now:
                found.append(f"{member}: {name} {was}, tool {now}")
    return found
