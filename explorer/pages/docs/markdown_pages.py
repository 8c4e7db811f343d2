"""The files of ``docs/``: Markdown as HTML, with its links turned into addresses of the server."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from groups.places import ROOT

FOLDER: Final = ROOT / "docs"
INDEX: Final = "README"
"""Its links, group by group, are the list of all pages."""

KINDS: Final[Mapping[str, str]] = {
    ".png": "image/png",
    ".json": "application/json",
    ".py": "text/plain; charset=utf-8",
    ".yaml": "text/plain; charset=utf-8",
    ".service": "text/plain; charset=utf-8",
}

FILES: Final[Mapping[str, str]] = {
    str(path.relative_to(FOLDER)): KINDS[path.suffix]
    for path in sorted(FOLDER.rglob("*"))
    if path.suffix in KINDS and path.is_file()
}
"""What pages show or link, by its path, and its kind. Nothing else of the disk can be asked for."""


class Heading(NamedTuple):
    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """``sections``: for the search, each heading with the text below it."""

    title: str
    html: SafeString
    headings: Sequence[Heading]
    sections: Sequence[tuple[Heading, str]]


class Listed(NamedTuple):
    name: str
    title: str


def page_named(name: str) -> Page | None:
    """The page at a path such as ``how-to/import-a-log``; null where there is none."""
    return _page(name) if name in _names() else None


@cache
def _names() -> frozenset[str]:
    return frozenset(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.md"))


@cache
def _page(name: str) -> Page:
    """Kept for good: there are as many as files. Names that somebody asks for in vain are not kept."""
    tokens = _markdown().parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    headings = list(_marked(tokens))
    for token in tokens:
        _readdress(token, name)
        for child in token.children or ():
            _readdress(child, name)
    html = _markdown().renderer.render(tokens, _markdown().options, {})
    # A wide table scrolls within the page; a keyboard reaches it.
    html = html.replace(
        "<table>", '<div class="scrolls" tabindex="0" role="group" aria-label="Table"><table class="t">'
    ).replace("</table>", "</table></div>")
    title = headings[0].text if headings else name
    return Page(title, mark_safe(html), headings, list(_sections(tokens, headings)))  # noqa: S308 - our own files, raw HTML is off


@cache
def groups() -> list[tuple[str, list[Listed]]]:
    """The pages as the index lists them: *Learn*, *Do*, *Look up*, *Understand*."""
    found = []
    for group, links in re.findall(
        r"^\| \*\*(.+?)\*\* \| (.+) \|$", (FOLDER / f"{INDEX}.md").read_text("utf-8"), re.MULTILINE
    ):
        listed = [
            Listed(name, title[:1].upper() + title[1:])
            for title, name in re.findall(r"\[([^\]]+)\]\(([^)]+)\.md\)", links)
        ]
        found.append((group, listed))
    return found


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _marked(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Gives each heading its id, as the links in the files name it."""
    taken: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        text = "".join(
            child.content for child in tokens[at + 1].children or () if child.type in ("text", "code_inline")
        )
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = taken[slug] = taken.get(slug, -1) + 1
        heading = Heading(int(token.tag[1]), f"{slug}-{count}" if count else slug, text)
        token.attrSet("id", heading.id)
        yield heading


def _sections(tokens: Sequence[Token], headings: Sequence[Heading]) -> Iterator[tuple[Heading, str]]:
    at, texts = -1, list[str]()
    for token, before in zip(tokens, [None, *tokens], strict=False):
        if token.type == "heading_open":
            if at >= 0:
                yield headings[at], " ".join(texts)
            at, texts = at + 1, []
        elif before is not None and before.type == "heading_open":
            continue
        elif token.type == "fence":
            texts.append(token.content)
        elif token.type == "inline":
            texts.append("".join(child.content or " " for child in token.children or ()))
    if at >= 0:
        yield headings[at], " ".join(texts)


def _readdress(token: Token, page: str) -> None:
    """A link to another file of ``docs/`` becomes its address; one to a file that is not there becomes the text of its path."""
    key = {"link_open": "href", "image": "src"}.get(token.type)
    target = str(token.attrGet(key) or "") if key else ""
    if not key or not target or target.startswith(("http://", "https://", "#")):
        return
    path, mark, place = target.partition("#")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if name.endswith(".md") and (FOLDER / name).is_file() and not name.startswith(".."):
        name = name.removesuffix(".md")
        token.attrSet(key, f"/docs/{'' if name == INDEX else name}{mark}{place}")
    elif name in FILES:
        token.attrSet(key, f"/docs/{name}")
    else:
        # Of the repository alone, such as the changelog or a folder.
        token.attrs = {"title": f"In the repository: {posixpath.normpath(posixpath.join('docs', name))}"}
