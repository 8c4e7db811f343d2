"""A page as the text that its checksum is of: the same that ``static/js/source/incident.js`` makes of it in a browser.

Tags with their attributes in order, and text without spaces: what a browser's parser and Python's see alike. Scripts are left
out: data have checksums of their own, and a changed script does not run.
"""

from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser
from typing import Final

SPACES: Final = re.compile(r"[ \t\n\r\f]+")

CHECKSUM: Final = "incident-checksum"
"""The meta element that holds the manifest's checksum, which is written last."""

IN_HEAD: Final = frozenset({"title", "meta", "style"})


def fingerprint(page: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text_of(page).encode()).hexdigest()


def text_of(page: str) -> str:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return "".join(reader.parts)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._in_body = False
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_body = self._in_body or tag == "body"
        self._within = tag
        if not self._in_body and tag not in IN_HEAD:
            return
        pairs = [(name, value or "") for name, value in attrs]
        left_out = tag == "meta" and ("name", CHECKSUM) in pairs
        attributes = sorted(
            f"{name}={value}" for name, value in pairs if not (left_out and name == "content")
        )
        self.parts.append(f"<{SPACES.sub(' ', ' '.join([tag, *attributes]))}>")

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within == "script" or not (self._in_body or self._within in IN_HEAD):
            return
        self.parts.append(SPACES.sub("", data))
