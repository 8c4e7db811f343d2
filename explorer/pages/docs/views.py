"""``/docs/`` and each page below it; ``?q=`` searches all pages."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from explorer.pages.docs.markdown_pages import FILES, FOLDER, INDEX, groups, page_named
from explorer.pages.docs.searching import QUERY_LETTERS_MOST, search
from groups.places import VERSION


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
