"""One input against one target.

Whatever the bytes are: a value, or one error of the decoders' own tree whose offset lies inside the bytes, within
the bounds below. Everything else is a finding.
"""

from __future__ import annotations

import resource
import signal
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from groups.wire.errors import BatchError, WireError

MOST_SECONDS: Final = 1.0
"""Of processor time, for one input of at most ``MOST_INPUT_BYTES`` (the machine may be busy with other things)."""

MOST_INPUT_BYTES: Final = 16 * 1024

MOST_RESIDENT_BYTES: Final = 512 * 1024 * 1024
"""What one input may add to the process: batches decompress to at most 64 MiB, and are held in a buffer, as bytes
and as records at once."""

MOST_BYTES_FOR_A_BYTE: Final = 512
"""What a decoder may allocate for each byte of its input: the costliest two bytes are an unknown tagged field
without data, told as a dict with two entries."""

MOST_LISTED_BYTES_FOR_A_BYTE: Final = 2048
"""The same for a listing, where an empty string of one byte is a node, and an object of its JSON form."""

MOST_FIXED_BYTES: Final = 256 * 1024
"""What a decoder may allocate whatever the input: a first buffer for decompressing, a compiled codec."""


class Finding(Exception):
    """Something that must hold does not."""


class _OutOfTime(BaseException):
    """Raised into a decoder that takes too long; nothing there may catch it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A decoder under test.

    ``check`` decodes, raises ``WireError`` for what cannot be read, and proves with ``expect`` what must hold of
    what can. ``seeds`` gives valid inputs to begin with.
    """

    name: str
    family: str
    check: Callable[[bytes], Any]
    seeds: Callable[[], list[bytes]]
    bytes_for_a_byte: int = MOST_BYTES_FOR_A_BYTE
    inflates: bool = False
    """Whether it decompresses, so that its memory is bounded by the result and not by the input."""


def expect(holds: bool, sentence: str, *shown: Any) -> None:
    if not holds:
        raise Finding(": ".join((sentence, *(f"{value!r:.300}" for value in shown))))


def attempt(target: Target, data: bytes) -> bool:
    """Whether ``data`` was read whole; ``Finding`` for whatever must not be."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    try:
        target.check(data)
        read = True
    except WireError as error:
        read = False
        _expect_clear(error, data)
    except Finding:
        raise
    except _OutOfTime:
        raise Finding(f"takes more than {MOST_SECONDS} s for {len(data)} bytes") from None
    except BaseException as error:  # a panic of a compiled library is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise Finding(
            f"{type(error).__name__} instead of an error of the decoders: {error!s:.300}"
        ) from error
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    expect(seconds < MOST_SECONDS, f"takes {seconds:.2f} s for {len(data)} bytes")
    grown = (after.ru_maxrss - before.ru_maxrss) * 1024
    expect(grown < MOST_RESIDENT_BYTES, f"needs {grown} bytes of memory for {len(data)} bytes")
    return read


def attempt_counting(target: Target, data: bytes) -> bool:
    """``attempt``, and every allocation counted: slow."""
    tracemalloc.start()
    try:
        read = attempt(target, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    most = MOST_FIXED_BYTES + target.bytes_for_a_byte * len(data)
    if target.inflates:
        most += MOST_RESIDENT_BYTES
    expect(peak <= most, f"allocates {peak} bytes for {len(data)} bytes")
    return read


def _expect_clear(error: WireError, data: bytes) -> None:
    offset = error.offset
    # What is wrong with a batch's records may lie in bytes that were decompressed: there is no offset for it.
    expect(offset is not None or isinstance(error, BatchError), "an error without an offset", str(error))
    expect(offset is None or 0 <= offset <= len(data), f"an offset outside of {len(data)} bytes", str(error))
    expect(bool(error.sentence) and "\n" not in str(error), "an error that is not one line", str(error))


@contextmanager
def time_bound() -> Iterator[Callable[[], None]]:
    """Breaks into a decoder that does not end; the function that it gives begins the time anew."""

    def out_of_time(*_: object) -> None:
        raise _OutOfTime

    earlier = signal.signal(signal.SIGPROF, out_of_time)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS) and None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)
