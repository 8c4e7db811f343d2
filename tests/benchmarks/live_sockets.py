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
import zlib
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
    yield Figure(what="live: stored to the first socket, median", value=middle(told["first_ms"]), unit="ms")
    yield Figure(what="live: memory of the server with the sockets", value=told["memory_mb"], unit="MB")
    yield Figure(what="live: memory of a socket", value=told["socket_kb"], unit="KB")
    yield Figure(
        what="live: processor time of the server while they hear, of one processor",
        value=told["processor_percent"],
        unit="%",
    )
    yield Figure(
        what="live: processor time of the sockets' own side meanwhile", value=told["client_percent"], unit="%"
    )


def measure(sockets: int, requests: int) -> dict[str, Any]:
    """``last_ms`` (from stored) and ``read_ms`` (from read) of each message, ``memory_mb``, ``socket_kb``, ``processor_percent``.

    ``first_ms`` is the time to the first socket, ``client_percent`` what the sockets' own side takes of a processor.
    """
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
    heard: Heard = {}
    opened = await open_sockets(server, f"/ws/timelines/{timeline}", sockets, heard)
    with_sockets_kb = memory_kb(server.pid)
    own = os.getpid()
    began_s, used_s, own_s = time.monotonic(), processor_s(server.pid), processor_s(own)
    follower.stdin.write("go\n")
    follower.stdin.flush()
    stored: list[dict[str, float]] = json.loads(await asyncio.to_thread(follower.stdout.readline))
    length_s = time.monotonic() - began_s
    share = (processor_s(server.pid) - used_s) / length_s
    own_share = (processor_s(own) - own_s) / length_s
    deadline = time.monotonic() + LIMIT_S
    # Two batches within 50 ms are one message, which is heard as of the later one.
    while len((by_last := told_of(heard)).get(int(stored[-1]["last"]), ())) < sockets:
        assert time.monotonic() < deadline, (
            f"{len(by_last.get(int(stored[-1]['last']), ()))} sockets heard the last"
        )
        await asyncio.sleep(0.1)
    peak_kb = memory_kb(server.pid, "VmHWM")
    for each in opened:
        each.close()
    last_ms, first_ms, read_ms = [], [], []
    for each in stored:
        first_with_it = by_last[min(last for last in by_last if last >= each["last"])]
        assert len(first_with_it) == sockets, f"{len(first_with_it)} of {sockets} heard {each['last']}"
        last_ms.append((max(first_with_it) - each["stored_s"]) * 1000)
        first_ms.append((min(first_with_it) - each["stored_s"]) * 1000)
        read_ms.append((max(first_with_it) - each["read_s"]) * 1000)
    return {
        "last_ms": last_ms,
        "first_ms": first_ms,
        "read_ms": read_ms,
        "memory_mb": peak_kb / 1024,
        "socket_kb": (with_sockets_kb - before_kb) / sockets,
        "processor_percent": 100 * share,
        "client_percent": 100 * own_share,
    }


Heard = dict[bytes, list[float]]
"""When each socket had the whole of a message, by the message as it came: what it says is looked at afterwards."""


class Ear(asyncio.Protocol):
    """A WebSocket client that notes when it had each whole message; it answers pings, and takes compression, as browsers do."""

    def __init__(self, request: bytes, heard: Heard) -> None:
        self.request, self.heard = request, heard
        self.greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rest = b""
        self._upgraded = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        if not self._upgraded:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self._rest = data
                return
            if not data.startswith(b"HTTP/1.1 101") or b"permessage-deflate" not in data[:end]:
                self.greeted.set_exception(RuntimeError(data[:200].decode(errors="replace")))
                return
            self._upgraded = True
            data = data[end + 4 :]
        at = 0
        while (end := frame_end(data, at)) <= len(data) and at < len(data):
            self._take(data[at:end])
            at = end
        self._rest = data[at:]

    def connection_lost(self, error: Exception | None) -> None:
        if not self.greeted.done():
            self.greeted.set_exception(error or ConnectionError("closed before the hello"))

    def _take(self, frame: bytes) -> None:
        if frame[0] & 0x0F == PING:
            # Masked with zeros: a client's frames are masked (RFC 6455, 5.3), and nothing here is secret.
            self._transport.write(bytes((0x80 | PONG, 0x80 | len(frame) - 2, 0, 0, 0, 0)) + frame[2:])
        elif self.greeted.done():
            self.heard.setdefault(frame, []).append(time.time())
        else:
            self.greeted.set_result(None)


def frame_end(data: bytes, at: int) -> int:
    """Where the server's frame at ``at`` ends (RFC 6455, 5.2: it is not masked); behind the data where it is not whole."""
    if len(data) < at + 10:
        # All lengths stand within ten bytes; the shorter forms are whole with fewer.
        if len(data) < at + 2 or (short := data[at + 1] & 0x7F) >= 126:
            return len(data) + 1
        return at + 2 + short
    length = data[at + 1] & 0x7F
    if length == 126:
        return at + 4 + int.from_bytes(data[at + 2 : at + 4], "big")
    if length == 127:
        return at + 10 + int.from_bytes(data[at + 2 : at + 10], "big")
    return at + 2 + length


def text_of(frame: bytes) -> bytes:
    """The text of a frame, decompressed."""
    text = frame[{126: 4, 127: 10}.get(frame[1] & 0x7F, 2) :]
    if frame[0] & RSV1:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(text + b"\0\0\xff\xff")
    return text


def told_of(heard: Heard) -> dict[int, list[float]]:
    """The times by the last entry that a message tells of."""
    found: dict[int, list[float]] = {}
    for frame, times in heard.items():
        text = text_of(frame)
        if text.startswith(b'{"type":"changes"'):
            last = LAST.search(text, 0, 80)
            assert last is not None
            found.setdefault(int(last[1]), []).extend(times)
    return found


RSV1: Final = 0x40
"""The bit of a frame that is compressed (RFC 7692)."""

PING, PONG = 0x9, 0xA

LAST: Final = re.compile(rb'"last":(\d+)')


async def open_sockets(server: Served, path: str, sockets: int, heard: Heard) -> list[asyncio.BaseTransport]:
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
                # As Chromium and Firefox offer it.
                "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
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
