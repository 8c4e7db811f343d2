"""Looking together: who is on a timeline. What its presenter looks at is announced as it comes (``explorer.pages.timelines.together``).

Nothing of it is stored. Each process repeats who has a socket at it, as a presenter repeats where it is: after a lost
connection, or a server that was restarted, all is as before with the next message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs
from uuid import uuid4

import orjson
from asgiref.sync import sync_to_async

from explorer.accounts.sessions import SIGNED_IN
from groups.jobs.announce import announce, together_group

PROCESS: Final = uuid4().hex[:12]
"""Which process a list of people is of."""

WITHIN_S: Final = 0.5
"""People that come and go within it are announced at once: after a restart all come."""

NAMED_MOST: Final = 50
"""People that a list names; the others are counted."""

_here: dict[str, dict[object, tuple[str, str]]] = {}
"""By timeline, of each socket: the id that its window gave itself, and its account's name."""

_announcing: dict[str, asyncio.Task[None]] = {}


def name_in(scope: Mapping[str, Any]) -> str:
    """The name of the account that has sent a request or opened a socket; empty in local mode, where nobody has one."""
    user = scope.get(SIGNED_IN)
    return "" if user is None else str(user.get_username())


def enter(key: str, socket: object, scope: Mapping[str, Any]) -> None:
    """A socket of a timeline has opened."""
    who = parse_qs(scope["query_string"].decode("latin-1")).get("who", [""])[0]
    _here.setdefault(key, {})[socket] = who[:32], name_in(scope)
    _announce_soon(key)


def leave(key: str, socket: object) -> None:
    if _here.get(key, {}).pop(socket, None) is not None:
        _announce_soon(key)


def announce_people(key: str) -> None:
    people = sorted(set(_here.get(key, {}).values()))
    text = orjson.dumps(
        {
            "type": "here",
            "process": PROCESS,
            "people": [{"who": who, "name": name} for who, name in people[:NAMED_MOST]],
            "more": max(0, len(people) - NAMED_MOST),
        }
    ).decode()
    announce(together_group(key), {"type": "together", "text": text})


def _announce_soon(key: str) -> None:
    async def after_a_moment() -> None:
        await asyncio.sleep(WITHIN_S)
        del _announcing[key]
        await sync_to_async(announce_people)(key)
        if not _here.get(key, True):
            del _here[key]

    if key not in _announcing:
        _announcing[key] = asyncio.create_task(after_a_moment(), name=f"people of {key}")
