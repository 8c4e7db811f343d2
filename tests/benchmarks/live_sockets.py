"""A thousand browsers on one group that rebalances, on PostgreSQL and Redis: from the stored entry to the last of them.

Three processes share the machine with both services: the server, a follower's store that is given what a broker would have
sent, request by request, and the thousand sockets, whose own work is in the figures. What is measured ends when the last
socket has the whole message, and begins as soon as the transaction is over; a second figure begins before the follower folds.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.benchmarks.figures import Figure, middle, percentile
from tests.benchmarks.generated.segment_files import PartitionLog as WrittenLog
from tests.benchmarks.generated.written_groups import WrittenGroup, uniform
from tests.benchmarks.generated.written_values import Topic
from tests.services.servers import Absent, services
from tests.serving import ROOT, Served, served

SOCKETS: Final = 1_000
MEMBERS, PARTITIONS = 20, 60
REQUESTS: Final = 150
"""Requests with an effect that are followed while the sockets hear: joins, leaves, and the heartbeats between them."""

EVERY_S: Final = 0.2
"""Twenty members that send a heartbeat every five seconds, of which each has an effect, are four a second."""

GOAL_MS: Final = 250.0
LIMIT_S: Final = 120.0
GROUP: Final = "measured"
OPENING_AT_ONCE: Final = 50
BEGIN_MS: Final = 1_795_000_000_000


def run() -> Iterator[Figure]:
    try:
        told = measure(SOCKETS, REQUESTS)
    except Absent as absent:
        sys.stderr.write(f"SKIPPED: {absent}\n")
        return
    what = f"{SOCKETS:,} sockets on one group of {MEMBERS} members that rebalances: stored to the last socket"
    yield Figure(what=f"live: {what}, median", value=middle(told["last_ms"]), unit="ms")
    yield Figure(
        what="live: the same, 99th percentile",
        value=percentile(told["last_ms"], 0.99),
        unit="ms",
        goal=GOAL_MS,
    )
    yield Figure(
        what="live: read by the follower to the last socket, folding and storing in it, median",
        value=middle(told["read_ms"]),
        unit="ms",
    )
    yield Figure(what="live: memory of the server with the sockets", value=told["memory_mb"], unit="MB")
    yield Figure(what="live: memory of a socket", value=told["socket_kb"], unit="KB")
    yield Figure(
        what="live: processor time of the server while they hear, of one processor",
        value=told["processor_percent"],
        unit="%",
    )


def measure(sockets: int, requests: int) -> dict[str, Any]:
    """``last_ms`` (from stored) and ``read_ms`` (from read) of each message, ``memory_mb``, ``socket_kb``, ``processor_percent``."""
    with services() as where, tempfile.TemporaryDirectory() as folder:
        var = Path(folder) / "var"
        var.mkdir()
        # The follower is a process of the benchmark's own.
        with served(var, WATCH_CLUSTERS="0", **where) as server:
            follower = subprocess.Popen(
                [sys.executable, "-m", "tests.benchmarks.live_sockets", str(requests)],
                cwd=ROOT, env=server.environment | {"DJANGO_SETTINGS_MODULE": "explorer.settings"},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            try:
                return asyncio.run(_heard(server, follower, sockets))
            finally:
                follower.kill()
                follower.wait()


async def _heard(server: Served, follower: subprocess.Popen[str], sockets: int) -> dict[str, Any]:
    assert follower.stdin is not None
    assert follower.stdout is not None
    timeline = json.loads(await asyncio.to_thread(follower.stdout.readline))["timeline"]
    before_kb = memory_kb(server.pid)
    heard: dict[int, list[float]] = {}
    opened = await _open(server, f"/ws/timelines/{timeline}", sockets, heard)
    with_sockets_kb = memory_kb(server.pid)
    began_s, used_s = time.monotonic(), processor_s(server.pid)
    follower.stdin.write("go\n")
    follower.stdin.flush()
    stored: list[dict[str, float]] = json.loads(await asyncio.to_thread(follower.stdout.readline))
    share = (processor_s(server.pid) - used_s) / (time.monotonic() - began_s)
    deadline = time.monotonic() + LIMIT_S
    # Two batches within 50 ms are one message, which is heard as of the later one.
    while len(heard.get(int(stored[-1]["last"]), ())) < sockets:
        assert time.monotonic() < deadline, (
            f"{len(heard.get(int(stored[-1]['last']), ()))} sockets heard the last"
        )
        await asyncio.sleep(0.1)
    peak_kb = memory_kb(server.pid, "VmHWM")
    for each in opened:
        each.close()
    last_ms, read_ms = [], []
    for each in stored:
        first_with_it = min(last for last in heard if last >= each["last"])
        assert len(heard[first_with_it]) == sockets, (
            f"{len(heard[first_with_it])} of {sockets} heard {first_with_it}"
        )
        last_ms.append((max(heard[first_with_it]) - each["stored_s"]) * 1000)
        read_ms.append((max(heard[first_with_it]) - each["read_s"]) * 1000)
    return {
        "last_ms": last_ms,
        "read_ms": read_ms,
        "memory_mb": peak_kb / 1024,
        "socket_kb": (with_sockets_kb - before_kb) / sockets,
        "processor_percent": 100 * share,
    }


class Ear(asyncio.Protocol):
    """A WebSocket client that notes when it had each whole message, and of which entry; it answers pings, as browsers do."""

    def __init__(self, request: bytes, heard: dict[int, list[float]]) -> None:
        self.request, self.heard = request, heard
        self.greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._data = bytearray()
        self._upgraded = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._upgraded:
            end = self._data.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self._data.startswith(b"HTTP/1.1 101"):
                self.greeted.set_exception(RuntimeError(self._data[:200].decode(errors="replace")))
                return
            self._upgraded = True
            del self._data[: end + 4]
        while (message := self._message()) is not None:
            self._take(message)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.greeted.done():
            self.greeted.set_exception(error or ConnectionError("closed before the hello"))

    def _message(self) -> bytes | None:
        """The payload of the next whole frame; the server's frames are not masked (RFC 6455)."""
        data = self._data
        if len(data) < 2:
            return None
        length, begin = data[1] & 0x7F, 2
        if length == 126:
            length, begin = int.from_bytes(data[2:4], "big"), 4
        elif length == 127:
            length, begin = int.from_bytes(data[2:10], "big"), 10
        if len(data) < begin + length:
            return None
        is_ping, message = data[0] & 0x0F == PING, bytes(data[begin : begin + length])
        del data[: begin + length]
        if is_ping:
            # Masked with zeros: a client's frames are masked (RFC 6455, 5.3), and nothing here is secret.
            self._transport.write(bytes((0x80 | PONG, 0x80 | length, 0, 0, 0, 0)) + message)
        return message

    def _take(self, message: bytes) -> None:
        if message.startswith(b'{"type":"changes"'):
            found = LAST.search(message, 0, 80)
            assert found is not None
            self.heard.setdefault(int(found[1]), []).append(time.time())
        elif message.startswith(b'{"type":"hello"') and not self.greeted.done():
            self.greeted.set_result(None)


PING, PONG = 0x9, 0xA

LAST: Final = re.compile(rb'"last":(\d+)')


async def _open(
    server: Served, path: str, sockets: int, heard: dict[int, list[float]]
) -> list[asyncio.BaseTransport]:
    host, port = server.url.removeprefix("http://").rsplit(":", 1)
    cookie = server.cookie()
    transports: list[asyncio.BaseTransport] = []
    loop = asyncio.get_running_loop()
    for first in range(0, sockets, OPENING_AT_ONCE):
        ears = []
        for _ in range(first, min(first + OPENING_AT_ONCE, sockets)):
            key = base64.b64encode(os.urandom(16)).decode()
            request = (
                f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nOrigin: {server.url}\r\n"
                f"Cookie: {cookie['name']}={cookie['value']}\r\n\r\n"
            )
            transport, ear = await loop.create_connection(
                lambda text=request: Ear(text.encode(), heard), host, int(port)
            )  # type: ignore[misc]
            transports.append(transport)
            ears.append(ear)
        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(*(ear.greeted for ear in ears))
    return transports


def memory_kb(pid: int, what: str = "VmRSS") -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{what}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1])


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# -- the follower's side


def written(folder: Path, requests: int) -> tuple[list[bytes], Topic]:
    """The batches of one group, a request each: first all that assembles it, joined into one, then ``requests`` more."""
    random = Random(7)
    topic = Topic("orders", random.randbytes(16), PARTITIONS)
    group = WrittenGroup(GROUP, [topic], random, uniform)
    log = WrittenLog(folder, 0, None)
    now_ms, made, assembled = BEGIN_MS, 0, 0

    def add(records: list[tuple[bytes, bytes | None]]) -> None:
        nonlocal made
        if records:
            log.add(now_ms, records)
            made += 1

    def settle() -> None:
        nonlocal now_ms
        while not all(map(group.settled, group.roster)):
            now_ms += 1_000
            for member in group.roster:
                add(group.heartbeat(member, now_ms))

    for _ in range(MEMBERS):
        add(group.join(now_ms)[1])
    settle()
    assembled = made
    while made < assembled + requests:
        now_ms += 10_000
        if len(group.roster) < MEMBERS:
            add(group.join(now_ms)[1])
        else:
            add(group.leave(group.roster[random.randrange(MEMBERS)]))
        settle()
    log.close()
    data = log.files[0].read_bytes()
    batches, at = [], 0
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        batches.append(data[at:end])
        at = end
    return [b"".join(batches[:assembled]), *batches[assembled : assembled + requests]], topic


def follow(requests: int) -> None:
    """Stores the assembled group, waits for a line, then follows request by request; tells when each was read and stored."""
    import django

    django.setup()
    from groups.history.following.partition import PartitionLog
    from groups.history.following.topics import TopicFacts
    from groups.models import Timeline
    from groups.storage import writing
    from groups.watching import registry
    from groups.watching.log_storing import LogStore, Taken
    from groups.wire.codecs.uuids import uuid_to_base64

    with tempfile.TemporaryDirectory() as folder:
        batches, topic = written(Path(folder), requests)
    cluster = registry.add(GROUP, {"bootstrap.servers": "127.0.0.1:1"})
    assert registry.take(cluster.pk, GROUP)
    store = LogStore(cluster, GROUP)
    store.begin()
    log = PartitionLog(partition=0)
    topics = {topic.name: TopicFacts(uuid_to_base64(topic.topic_id), PARTITIONS)}

    stored_s: list[float] = []
    announce = writing.announce

    def stamped(to: str, message: dict[str, Any]) -> None:
        # It is announced as soon as the transaction is over.
        stored_s.append(time.time())
        announce(to, message)

    writing.announce = stamped

    def take(data: bytes) -> None:
        records = list(log.take(data))
        store.take([Taken(log, records, True, log.position)], topics)

    take(batches[0])
    timeline = Timeline.objects.get(group=GROUP)
    sys.stdout.write(json.dumps({"timeline": timeline.pk}) + "\n")
    sys.stdout.flush()
    sys.stdin.readline()
    told = []
    due_s = time.monotonic()
    for data in batches[1:]:
        due_s += EVERY_S
        time.sleep(max(0.0, due_s - time.monotonic()))
        stored_s.clear()
        read_s = time.time()
        take(data)
        timeline.refresh_from_db(fields=["last"])
        told.append({"read_s": read_s, "stored_s": stored_s[0], "last": timeline.last})
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    follow(int(sys.argv[1]))
