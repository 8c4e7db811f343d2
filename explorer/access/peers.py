"""Whose process is at the other end of a connection, where the system shows it: Linux, of connections within this machine.

The kernel is asked for the one socket that the connection comes from, by netlink (``sock_diag(7)``), which takes some
microseconds. It reports the account that has made that socket.
"""

from __future__ import annotations

import socket
import struct
import sys
from collections.abc import Mapping
from typing import Any, Final

NETLINK_SOCK_DIAG: Final = 4
SOCK_DIAG_BY_FAMILY: Final = 20
NLM_F_REQUEST: Final = 1

ESTABLISHED: Final = 1

HEAD: Final = struct.Struct("=IHHII")
"""``nlmsghdr``: length, type, flags, sequence, port."""

ASKED: Final = struct.Struct("=BBBxI2s2s16s16sI8s")
"""``inet_diag_req_v2``: family, protocol, extensions, states; of the socket its port, the other port, both addresses, interface, cookie."""

TCP_INFO: Final = struct.Struct("=4B48x5I")
"""``inet_diag_msg``: family, state, timer, retries; the socket's id; expiry, two queues, account, inode."""

ANY_COOKIE: Final = b"\xff" * 8

WAIT_S: Final = 0.5
"""The kernel answers within the call; this is for one that does not."""

UNKNOWN: Final = ""


def account_of(scope: Mapping[str, Any]) -> str:
    """The number of the account whose process has the other end of a request's connection; ``UNKNOWN`` if the system does not show it.

    It is unknown for a Unix socket, another machine or another container, a system that is not Linux, and an end that
    was closed already: the kernel gives an orphan to the account 0.
    """
    client, server = scope.get("client"), scope.get("server")
    if sys.platform != "linux":
        return UNKNOWN
    if not client or not server or not client[1] or not server[1]:
        return UNKNOWN
    try:
        return _owner_of(_socket_id(client, server))
    except (OSError, ValueError, struct.error):
        return UNKNOWN


def _socket_id(client: tuple[str, int], server: tuple[str, int]) -> bytes:
    """The kernel's question for the socket at ``client`` that is connected to ``server``."""
    family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
    ends = [socket.inet_pton(family, host) for host, _ in (client, server)]
    ports = [struct.pack("!H", port) for _, port in (client, server)]
    return ASKED.pack(int(family), socket.IPPROTO_TCP, 0, 1 << ESTABLISHED, *ports, *ends, 0, ANY_COOKIE)


def _owner_of(asked: bytes) -> str:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(WAIT_S)
        kernel.sendall(HEAD.pack(HEAD.size + len(asked), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0) + asked)
        answer = kernel.recv(4096)
    _, type_, *_ = HEAD.unpack_from(answer)
    if type_ != SOCK_DIAG_BY_FAMILY:
        return UNKNOWN
    _, state, *_, account, inode = TCP_INFO.unpack_from(answer, HEAD.size)
    return str(account) if state == ESTABLISHED and inode else UNKNOWN
