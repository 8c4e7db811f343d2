"""The child process that makes one timeline's cache again: ``{"timeline": id}`` in, ``{"type": "done"}`` out."""

from __future__ import annotations

import os
import sys
import uuid

import orjson


def main() -> None:
    question = orjson.loads(sys.stdin.buffer.readline())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    import django

    django.setup()
    from groups.storage import refold

    made = refold(question["timeline"], owner=f"refold {uuid.uuid4()}")
    sys.stdout.buffer.write(orjson.dumps({"type": "done", "made": made}) + b"\n")


if __name__ == "__main__":
    main()
