"""A server of somebody else's: a wiki that frames what was shared with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def wiki_server() -> Iterator[tuple[int, dict[str, str]]]:
    """Its port, and the ``body`` of the one page that it shows."""
    shown = {"body": ""}

    class Wiki(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>wiki</title>{shown['body']}".encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Wiki) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running.server_address[1], shown
        finally:
            running.shutdown()
            thread.join()
