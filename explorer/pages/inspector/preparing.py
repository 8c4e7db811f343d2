"""What the first guess at bytes needs, made while nobody waits: the declarations of requests and answers.

Without it, the first bytes that were pasted after a start took a second; with it, as long as all others.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from groups.wire.inspection import guess
from groups.wire.rpc import prepare

log = logging.getLogger(__name__)

AFTER_START_S: Final = 1.0
"""The first page and what belongs to it come first."""

PAUSE_S: Final = 0.03
"""Between two bits, of which most take less than a hundredth of a second: requests come in between, and find three
quarters of the time free."""

PLAIN: Final = bytes.fromhex("ff" * 16)
"""No kind's bytes, so that every kind is tried and what it needs is made."""


async def prepare_guesses() -> None:
    await asyncio.sleep(AFTER_START_S)
    bits = prepare()
    try:
        while await asyncio.to_thread(next, bits, bits) is not bits:
            await asyncio.sleep(PAUSE_S)
        await asyncio.to_thread(guess, PLAIN)
    except Exception:
        # Bytes can be inspected all the same; the first to do so waits a little longer.
        log.exception("The declarations of requests could not be made beforehand.")
