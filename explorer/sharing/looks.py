"""What the holders of open links were shown within the last second: two hundred people may open one link at once.

The answers of one link are the same for all who have it, so they are looked up once a second, packed once, and given from memory
meanwhile. A link that was withdrawn by another process is therefore shown for a second more, at most.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple

from django.utils import timezone

from explorer.sharing import tokens

FRESH_S: Final = 1.0
"""Seconds for which a look holds: a reader of a withdrawn link is to see that within five."""

KEPT_BYTES: Final = 32 * 1024 * 1024
"""Bytes of pages in memory: those that people open now."""

KEPT_MOST: Final = 1_000
"""Looks in memory, however small their pages are."""


class Content(NamedTuple):
    """A link's page in gzip, its policy, and the picture of its card."""

    page: bytes
    policy: str
    card: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a link shows; without ``content`` that of which it was made is deleted."""

    id: str
    title: str
    sentence: str
    embed_origins: tuple[str, ...]
    until: datetime
    content: Content | None

    @property
    def bytes_held(self) -> int:
        return 0 if self.content is None else len(self.content.page) + len(self.content.card)


class Looks:
    """Looks by the hash of their token. ``clock`` is in seconds. Safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Look]] = OrderedDict()
        self._tokens: dict[str, str] = {}
        self._lock = Lock()

    def fresh(self, token: str) -> Look | None:
        """What was looked up within the last second and is still open."""
        hashed = tokens.hashed(token)
        with self._lock:
            looked_s, look = self._kept.get(hashed, (0.0, None))
            if look is None or self._clock() - looked_s >= FRESH_S or look.until <= timezone.now():
                return None
            self._kept.move_to_end(hashed)
            return look

    def content_of(self, link_id: str) -> Content | None:
        """The page of a link that was looked up at some time: it never changes, though it may be gone."""
        with self._lock:
            hashed = self._tokens.get(link_id)
            return None if hashed is None else self._kept[hashed][1].content

    def keep(self, token: str, look: Look) -> None:
        hashed = tokens.hashed(token)
        with self._lock:
            self._kept.pop(hashed, None)
            self._kept[hashed] = (self._clock(), look)
            self._tokens[look.id] = hashed
            held = sum(one.bytes_held for _, one in self._kept.values())
            while len(self._kept) > 1 and (held > KEPT_BYTES or len(self._kept) > KEPT_MOST):
                _, (_, dropped) = self._kept.popitem(last=False)
                held -= dropped.bytes_held
                del self._tokens[dropped.id]

    def forget(self, link_id: str) -> None:
        with self._lock:
            if (hashed := self._tokens.pop(link_id, None)) is not None:
                del self._kept[hashed]


looks: Final = Looks()
"""Those of this process."""
