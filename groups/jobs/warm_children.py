"""Children that answer one question after the other: to start one takes a quarter of a second, and one with Spark many.

``groups.jobs.children`` starts a process for each task; these stand ready. What somebody waits for is bounded (``ask``): a request
while all are busy is refused, since behind two that compute, a third would only wait. A child whose asker has left is ended.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from groups.jobs import waiting
from groups.jobs.children import Child, ChildFailed, shutting_down

POLL_S: Final = 0.05
"""How often it is looked whether the asker is still there."""

LEFT_S: Final = 1.0
"""A child that is so far is left to end, since its start takes a third of that: a page asks again at every click."""

ANSWER_S: Final = 60.0
"""An answer takes a second in the worst case that is known."""

FREE_S: Final = 0.25
"""How long a question waits for a child: two clicks of two readers fall together now and then."""

LAST: Final = {"done": True, "error": False}
"""Types of the message that ends an answer, and whether the child can be asked again."""

T = TypeVar("T")


class Busy(Exception):
    """As many questions as there are children are being answered."""


class AskerLeft(Exception):
    """Nobody waits for the answer any more."""


class WarmChildren:
    """Children that run a module, of which ``count`` at most are kept while nobody asks them."""

    def __init__(self, module: str, count: int = 1) -> None:
        self.module = module
        self._count = count
        self._free = threading.BoundedSemaphore(count)
        # Who waits for a child has a thread: there are no more of them than children.
        self._next = threading.BoundedSemaphore(count)
        self._idle: list[Child] = []
        self._lock = threading.Lock()
        atexit.register(self.close)

    def ask(self, question: Mapping[str, Any], left: Callable[[], bool] = lambda: False) -> bytes:
        """The answer, a line of JSON. ``Busy``, ``AskerLeft``, ``ChildFailed`` or ``ParentStops`` where there is none."""
        with self._place():
            if left():
                raise AskerLeft
            begun_s = time.monotonic()

            def given_up() -> bool:
                waited_s = time.monotonic() - begun_s
                if waited_s > LEFT_S and left():
                    raise AskerLeft
                if waited_s > ANSWER_S:
                    raise ChildFailed(f"{self.module} came to no answer in {waited_s:.0f} s.")
                return False

            lines = list(
                self._answer(
                    question, lambda child: child.lines(given_up, POLL_S), lambda line: line[-1:] == b"\n"
                )
            )
            if not lines or lines[0][-1:] != b"\n":
                raise ChildFailed(f"{self.module} ended or was ended without a whole answer.")
            return lines[0][:-1]

    def messages(
        self, question: Mapping[str, Any], cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[dict[str, Any]]:
        """As ``run_child``, to a message of a type in ``LAST``. If all children are busy another one is started."""
        return self._answer(
            question,
            lambda child: child.messages(cancelled),
            lambda message: LAST.get(message.get("type", "")),
        )

    def close(self) -> None:
        """End those that stand ready."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        if not self._free.acquire(blocking=False):
            if not self._next.acquire(blocking=False):
                raise Busy
            waiting.begins()
            try:
                if not self._free.acquire(timeout=FREE_S):
                    raise Busy
            finally:
                self._next.release()
        waiting.begins()
        try:
            yield
        finally:
            self._free.release()

    def _answer(
        self,
        question: Mapping[str, Any],
        read: Callable[[Child], Iterator[T]],
        ends: Callable[[T], bool | None],
    ) -> Iterator[T]:
        """What is read of a child, up to what ``ends`` the answer (null: not yet; false: nor is the child asked again)."""
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            child = kept or Child(self.module, outlives_thread=True)
            has_answered, end = False, None
            try:
                child.ask(question)
                for each in read(child):
                    has_answered, end = True, ends(each)
                    yield each
                    if end is not None:
                        return
            except ChildFailed:
                if kept is None or has_answered or child.is_alive:
                    raise
            finally:
                is_alive = child.is_alive
                with self._lock:
                    keeps = bool(end) and is_alive and len(self._idle) < self._count
                    if keeps and not shutting_down.is_set():
                        self._idle.append(child)
                    else:
                        keeps = False
                if not keeps:
                    child.close()
            # One that stood ready may have ended meanwhile: then it answers nothing, and the next one is asked.
            if is_alive or has_answered or kept is None:
                return
