"""The child process that makes one timeline's cache again: ``{"timeline": id}`` in, ``{"type": "done"}`` out."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator, Mapping

from groups.child_side import Message, answer_question


def answer(question: Mapping[str, str]) -> Iterator[Message]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    import django

    django.setup()
    from groups.storage import refold

    yield {"type": "done", "made": refold(question["timeline"], owner=f"refold {uuid.uuid4()}")}


if __name__ == "__main__":
    sys.exit(answer_question(answer))
