"""Files of an upload, written once: straight into the folder that their import reads.

Django keeps a body in a temporary file, and each file of it in another, before anybody may copy it to its place. Here the
body comes as a stream (``explorer.access.bodies``), and each file of it is written where it stays but for its name.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

from groups.imports import lifecycle

COMING: Final = ".coming-"
"""The folder of an upload that is not complete begins so."""

CUT_SHORT_S: Final = 24 * 3600
"""The folder changes with each of its files; the largest of them does not take a day."""


# The type checker's stub is generic, the class is not.
if TYPE_CHECKING:
    BytesFile = UploadedFile[bytes]
else:
    BytesFile = UploadedFile


class KeptFile(BytesFile):
    """A file that has come whole. ``place`` is where it lies, until the upload is forgotten."""

    def __init__(self, place: Path, name: str | None, size: int) -> None:
        super().__init__(place.open("rb"), name, size=size)
        self.place = place


class Keeping(FileUploadHandler):
    """Django's upload handler for every form with files."""

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.folder: Path | None = None
        self.files: list[KeptFile] = []
        self.out: BinaryIO | None = None

    def new_file(self, *known: Any, **facts: Any) -> None:
        super().new_file(*known, **facts)
        if self.folder is None:
            self.folder = lifecycle.uploads() / f"{COMING}{secrets.token_hex(8)}"
            self.folder.mkdir(mode=0o700, parents=True)
        self.out = (self.folder / str(len(self.files))).open("wb")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self.out is not None
        self.out.write(raw_data)

    def file_complete(self, file_size: int) -> KeptFile:
        assert self.out is not None
        self.out.close()
        kept = KeptFile(Path(self.out.name), self.file_name, file_size)
        self.files.append(kept)
        return kept

    def forget(self) -> None:
        """Remove what has come and was not moved to its place."""
        if self.out is not None:
            # What could not be written for want of space cannot be written now.
            with contextlib.suppress(OSError):
                self.out.close()
        for kept in self.files:
            kept.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def forget_uploads(request: HttpRequest) -> None:
    for handler in getattr(request, "_upload_handlers", ()):
        if isinstance(handler, Keeping):
            handler.forget()


@sync_and_async_middleware
def forgetting_uploads(get_response: Any) -> Any:
    """Middleware: when a request is answered, or its client has left, nothing of it is left behind."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            try:
                return await get_response(request)
            finally:
                await sync_to_async(forget_uploads)(request)

        return answer_later

    def answer(request: HttpRequest) -> Any:
        try:
            return get_response(request)
        finally:
            forget_uploads(request)

    return answer


def forget_cut_short() -> None:
    """Remove what uploads had brought when a server was killed."""
    for folder in lifecycle.uploads().glob(f"{COMING}*"):
        # Another process may be receiving: what has changed lately is not cut short.
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > CUT_SHORT_S:
                shutil.rmtree(folder, ignore_errors=True)
