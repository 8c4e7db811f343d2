"""nginx as the docs configure it, with this machine's places: what the tests of a proxy have in common."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.services.servers import Absent, free_port
from tests.serving import end

WAIT_S = 60


def block_of(page: Path) -> str:
    """The page's nginx file."""
    (block,) = re.findall(r"^```nginx\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return str(block)


@contextlib.contextmanager
def nginx(page: Path, folder: Path, name: str, places: Mapping[str, str], *, port: int = 0) -> Iterator[int]:
    """Runs the page's file for the host ``name``, with ``places`` in place of its own, and a certificate made here; the port."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None or shutil.which("openssl") is None:
        raise Absent("nginx or openssl is not installed (Debian: apt-get install nginx openssl)")
    port = port or free_port()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    block = block_of(page)
    for ours, theirs in {
        "443 ssl": f"127.0.0.1:{port} ssl",
        f"{name};": "localhost;",
        "/etc/ssl/": f"{folder}/",
        "/var/log/nginx/": f"{folder}/",
        **places,
    }.items():
        assert ours in block, ours
        block = block.replace(ours, theirs)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; user root; pid {folder}/nginx.pid; error_log {folder}/errors.log;\n"
        f"events {{ worker_connections 256; }}\nhttp {{\n{temporary}\n{block}}}\n"
    )
    proxy = subprocess.Popen([program, "-p", str(folder), "-c", str(config)], start_new_session=True)
    try:
        until_s = time.monotonic() + WAIT_S
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert proxy.poll() is None, (folder / "errors.log").read_text()
            assert time.monotonic() < until_s
            time.sleep(0.05)
        yield port
    finally:
        end(proxy)
