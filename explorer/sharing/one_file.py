"""A page that needs nothing else: template, data, styles and script in one, each with its checksum.

It plays from a ``file:`` address with no network, and nothing leaves it: its own policy names the one script and the one sheet
of styles by their hashes, and allows no connection. Its data are parts in gzip, each with a checksum.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, Final, Literal, NamedTuple, TypedDict

import orjson
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from explorer.sharing.bundle import script, styles
from groups.places import VERSION

# -- A page as the text that its checksum is of: the same that ``static/js/source/incident.js`` makes of it in a browser.
#
# Tags with their attributes in order, and text without spaces: what a browser's parser and Python's see alike. Scripts are left
# out: data have checksums of their own, and a changed script does not run.

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


FORMAT: Final = 1
"""Of the page's parts; raised when an older script could not read them. (A page has its own script with it.)"""

CHECKSUM_PLACE: Final = mark_safe("<checksum>")
MANIFEST_PLACE: Final = mark_safe("<manifest>")
"""Filled in last. No name out of a log can stand for one of them, since its ``<`` is escaped."""

View = Literal["reader", "investigator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is shown: the template, the module that begins its script, the sheets of its styles."""

    template: str
    entry: str
    sheets: tuple[str, ...]

    @property
    def script(self) -> str:
        return script(self.entry)

    @property
    def styles(self) -> str:
        return styles(*self.sheets)


TIMELINE: Final = Kind(
    template="sharing/incident.html",
    entry="js/pages/board.js",
    sheets=("css/base.css", "css/matrix.css", "css/board.css", "css/map.css", "css/bytes.css", "css/reading.css", "css/incident.css"),
)  # fmt: skip
COMPARISON: Final = Kind(
    template="sharing/comparison.html",
    entry="js/pages/compare.js",
    sheets=("css/base.css", "css/matrix.css", "css/compare.css", "css/incident.css"),
)
LABORATORY: Final = Kind(
    template="sharing/laboratory.html",
    entry="js/pages/shared-laboratory.js",
    sheets=("css/base.css", "css/matrix.css", "css/laboratory.css", "css/incident.css"),
)


class Block(NamedTuple):
    """A part of the data, as it is in the page."""

    name: str
    base64: str


class ManifestBlock(TypedDict):
    name: str
    sha256: str


class Manifest(TypedDict):
    """The list of a page's parts; ``page`` is the checksum of the page's own text."""

    format: int
    version: str
    made_ms: int
    view: View | None
    page: str
    blocks: list[ManifestBlock]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The share link by which a page is shown."""

    state_url: str
    until: str
    author: str
    """Empty where names are hidden, and where nobody has a name."""


def blocks_of(parts: Mapping[str, Any]) -> list[Block]:
    return [Block(name, _packed(value)) for name, value in parts.items()]


def sealed(
    kind: Kind,
    parts: Mapping[str, Any],
    context: Mapping[str, Any],
    *,
    view: View,
    made: datetime,
    link: Link | None = None,
) -> bytes:
    """The page: ``parts`` are its data by name, ``context`` is its template's. ``made`` is shown as the time at which it was made."""
    blocks = blocks_of(parts)
    text: str = render_to_string(
        kind.template,
        {
            **context,
            "incident": True,
            "view": view,
            "policy": policy(kind, connects=link is not None),
            "styles": as_is(kind.styles),
            "script": as_is(kind.script),
            "blocks": blocks,
            "link": link,
            "checksum_place": CHECKSUM_PLACE,
            "manifest_place": MANIFEST_PLACE,
        },
    )
    manifest = Manifest(
        format=FORMAT,
        version=VERSION,
        made_ms=int(made.timestamp() * 1000),
        view="reader" if view == "reader" else None,
        page=fingerprint(text),
        blocks=[ManifestBlock(name=block.name, sha256=_sha256(block.base64)) for block in blocks],
    )
    manifest_text = orjson.dumps(manifest).decode()
    text = text.replace(CHECKSUM_PLACE, _sha256(manifest_text), 1).replace(MANIFEST_PLACE, manifest_text, 1)
    return text.encode()


def policy(kind: Kind, *, connects: bool) -> str:
    """What the page may do: run its one script, use its one sheet, and, behind a link, ask whether the link is still open."""
    parts = {
        "default-src": "'none'",
        "script-src": _source(kind.script),
        "style-src": _source(kind.styles),
        # Widths of spans and places of chips are written as attributes; nothing that a style names may be fetched.
        "style-src-attr": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if connects:
        parts["connect-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def as_is(text: str) -> SafeString:
    """Our own script and styles, in which nothing ends the element (``bundle``)."""
    return mark_safe(text)  # noqa: S308


def made_at_text(made: datetime) -> str:
    """When a page was made, as written in the page."""
    return f"{made.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _packed(value: Any) -> str:
    return base64.b64encode(gzip.compress(orjson.dumps(value), compresslevel=9, mtime=0)).decode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
