"""``/docs/`` and each page below it; ``?q=`` searches all pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from explorer.pages.docs.markdown_pages import FILES, FOLDER, INDEX, groups, page_named
from groups.places import VERSION

# -- The search of the documentation: sections that have all words, those with a word in the heading first.

QUERY_LETTERS_MOST: Final = 100
FOUND_MOST: Final = 30
"""A reader who has not found it by then takes another word."""

AROUND: Final = 90
"""Letters of a section on both sides of the first word."""


class Found(NamedTuple):
    url: str
    page: str
    heading: str
    excerpt: str


def search(query: str) -> list[Found]:
    """At most ``FOUND_MOST`` sections; words count wherever they stand in it, in any case."""
    words = query.lower().split()
    ranked = sorted(_matching(words), key=lambda one: one[0], reverse=True)
    return [found for _, found in ranked[:FOUND_MOST]]


def _matching(words: list[str]) -> Iterator[tuple[tuple[int, int], Found]]:
    for _, listed in groups():
        for name, _title in listed:
            page = page_named(name)
            if page is None or name == INDEX:
                continue
            for heading, text in page.sections:
                title, low = heading.text.lower(), text.lower()
                if not all(word in title or word in low for word in words):
                    continue
                rank = (sum(word in title for word in words), sum(map(low.count, words)))
                place = "" if heading.level == 1 else f"#{heading.id}"
                yield rank, Found(f"/docs/{name}{place}", page.title, heading.text, _excerpt(text, words))


def _excerpt(text: str, words: list[str]) -> str:
    text = re.sub(r"\s+", " ", text)
    places = [place for word in words if (place := text.lower().find(word)) >= 0]
    first = max(min(places, default=0) - AROUND, 0)
    cut = text[first : first + 2 * AROUND]
    return f"{'… ' if first else ''}{cut.strip()}{' …' if first + 2 * AROUND < len(text) else ''}"


@require_safe
def page(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    """A page by its path without ``.md``, or a file that a page shows or links; 404 for anything else."""
    query = request.GET.get("q", "")[:QUERY_LETTERS_MOST].strip()
    if query:
        context = {"groups": groups(), "query": query, "found": search(query), "version": VERSION}
        return render(request, "docs/found.html", context)
    if (kind := FILES.get(name)) is not None:
        return HttpResponse((FOLDER / name).read_bytes(), content_type=kind)
    found = page_named(name)
    if found is None:
        raise Http404(f"The documentation has no page {name[:100]!r}: look at /docs/.")
    return render(
        request, "docs/page.html", {"groups": groups(), "name": name, "page": found, "version": VERSION}
    )
