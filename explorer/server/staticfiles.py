"""Static files: served by the app itself, compressed, with hashed names that a browser may keep for good."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

from explorer.server.static_version import COMPLETE, package_data
from explorer.web.comments import MODULE_COMMENTS, STYLE_COMMENTS

PLOTLY = "vendor/plotly.min.js"
"""Plotly's whole script, for the maps of a sweep. It comes out of the installed package: no copy in git, no CDN.

The board's figure has lines alone and takes ``vendor/plotly-basic.min.js``, Plotly's own smaller build of the same release: to evaluate
it is a task of 0.09 s of a processor, of the whole one 0.74 s. The Python package does not bring it, so it is in ``static``.
"""


OUR_MODULES = "js/*.js"
"""As ``fnmatch`` has it, where a star crosses slashes."""

NOTHING: Final = ""
"""The template of what is removed."""


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names with a hash of the content, in the imports of ES modules, too; our modules and styles without comments."""

    support_js_module_import_aggregation = True
    max_post_process_passes = 40
    """A module's hash changes with those of its imports: a pass for each floor of the imports, and Django allows 5."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Only our own modules import others. To look for imports in Plotly's script takes five seconds of a start.
        patterns: dict[str, Any] = vars(self)["_patterns"]
        # A type in a comment looks like an import: comments are removed first.
        patterns[OUR_MODULES] = [(comment, NOTHING) for comment in MODULE_COMMENTS] + patterns.pop("*.js")
        patterns["*.css"] = [(comment, NOTHING) for comment in STYLE_COMMENTS] + patterns["*.css"]

    def url_converter(self, name: str, hashed_files: Any, template: str | None = None) -> Callable[..., str]:
        if template == NOTHING:
            return lambda match: ""
        convert: Callable[..., str] = super().url_converter(name, hashed_files, template)
        return convert


NOT_SERVED = frozenset({COMPLETE, "staticfiles.json"})
"""What is among the collected files for ourselves: which there are, and that all are there."""


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, answering with whole responses.

    Its streaming ones make Django warn under ASGI and read the file within the event loop. The largest file is
    Plotly's script with 1.5 MB compressed, so a whole one is no burden.
    """

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        if Path(path).name not in NOT_SERVED:
            super().add_file_to_dictionary(url, path, stat_cache)

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["content-type"]
        for name, value in found.headers:
            response[name] = value
        return response


class PlotlyFinder(BaseFinder):
    """Finds Plotly's script, and nothing else of the package's data."""

    def __init__(self, app_names: Iterable[str] | None = None, *args: Any, **kwargs: Any) -> None:
        self.folder = package_data()
        self.storage = FileSystemStorage(location=str(self.folder))
        self.storage.prefix = "vendor"  # type: ignore[attr-defined]
        super().__init__()

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != PLOTLY:
            return []
        found = str(self.folder / Path(PLOTLY).name)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        yield Path(PLOTLY).name, self.storage

    def check(self, **kwargs: Any) -> builtins.list[Any]:
        return []
