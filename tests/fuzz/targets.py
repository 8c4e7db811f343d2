"""Every decoder, with what must hold of it.

Of whatever could be read, the bytes that are written for it read as the same again. (Not the bytes themselves: a
number may stand in more bytes than it needs.)
"""

from __future__ import annotations

from tests.fuzz import batched, inspected, messages, recorded
from tests.fuzz.oracle import Target


def every_target() -> dict[str, Target]:
    """By name; the names stand in the corpus."""
    targets = [
        *recorded.targets(),
        *batched.targets(),
        *messages.targets(),
        *inspected.targets(),
    ]
    return {target.name: target for target in targets}
