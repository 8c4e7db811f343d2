"""A recording as ``conform`` takes it, the group requests in a file, and a folder with the segments of both logs.

``python -m tests.broker.recording FOLDER`` makes the bundled sample of the consumer protocol anew, real clients on a real broker;
with ``classic`` behind it that of the classic protocol and of migrations; with releases behind it ``OF_RELEASES`` on each, which tests
of other releases judge (``tests/broker/fixtures/releases``).
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from groups.texts.request_log import LoggedRequest, read_request_log
from simulations.proof.conformance import GROUP_APIS

REQUESTS, SEGMENTS = "requests.jsonl.gz", "segments"

RELEASES = Path(__file__).parent / "fixtures" / "releases"

OF_RELEASES = (
    "assignor-chosen",
    "assignor-outvoted",
    "assignor-tie",
    "last-leaves",
    "static-full-group",
    "static-renamed",
    "txn-committed",
    "txn-refused",
)
"""Exchanges that go otherwise on 4.4 than before."""


def json_line(request: LoggedRequest) -> dict[str, Any]:
    """The request in the JSON Lines form."""
    return {
        "done_ms": request.done_ms,
        "total_ms": request.total_ms,
        "api": request.api,
        "version": request.version,
        "client": request.client,
        "host": request.host,
        "request": dict(request.request),
        "response": dict(request.response),
    }


def keep(log: Path, data: Path, folder: Path) -> None:
    """Writes both; the same recording gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    with log.open() as lines:
        kept = [
            json.dumps(json_line(each), separators=(",", ":"))
            for each in read_request_log(lines, apis=GROUP_APIS)
            if isinstance(each, LoggedRequest)
        ]
    packed = gzip.compress("".join(f"{line}\n" for line in kept).encode(), mtime=0)
    (folder / REQUESTS).write_bytes(packed)
    for pattern in ("__consumer_offsets-*/*.log", "__cluster_metadata-0/*.log"):
        for segment in sorted(each for each in data.glob(pattern) if each.stat().st_size):
            kept_as = folder / SEGMENTS / segment.relative_to(data)
            kept_as.parent.mkdir(parents=True, exist_ok=True)
            kept_as.write_bytes(segment.read_bytes())


def keep_of_release(release: str, folder: Path) -> None:
    from . import played
    from .node import running
    from .releases import played_on

    with tempfile.TemporaryDirectory() as place:
        with running(Path(place), played.SETTINGS, request_log=True, release=release) as node:
            assert not played_on(node, OF_RELEASES)
        keep(node.folder / "broker.log.requests", node.data, folder)


def main() -> int:
    from . import played, real_classic_clients, real_clients
    from .node import running

    folder, classic = Path(sys.argv[1]), "classic" in sys.argv[2:]
    releases = [each for each in sys.argv[2:] if each != "classic"]
    for release in releases:
        keep_of_release(release, folder / release)
    if releases:
        return 0
    settings = real_classic_clients.SETTINGS if classic else played.SETTINGS
    with tempfile.TemporaryDirectory() as place:
        with running(Path(place) / "node", settings, request_log=True) as node:
            problems = real_classic_clients.play(node) if classic else real_clients.play(node)
        for group, problem in problems.items():
            sys.stderr.write(f"{group}: {problem}\n")
        keep(node.folder / "broker.log.requests", node.data, folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
