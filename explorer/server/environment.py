"""Settings read from the environment: one reader a kind, and one clear line for a value that is wrong."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import secrets
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})


def text(name: str, default: str) -> str:
    """The value of ``name``; one that is set to nothing counts as not set."""
    return os.environ.get(name) or default


def flag(name: str, *, default: bool) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is neither yes nor no: use 1 or 0.")


LOGINS = ("password", "proxy", "oidc")
"""Ways to sign in: by a password of ours, by a proxy in front that names who has signed in there, and at an OpenID Connect provider."""


def login(name: str) -> tuple[str, ...]:
    """The ways to sign in that ``name`` lists; none in local mode."""
    given = tuple(word.lower() for word in words(name, ""))
    for word in given:
        if word not in LOGINS:
            raise ImproperlyConfigured(f"{name} has {word!r}; it must be of {', '.join(LOGINS)}.")
    if "proxy" in given and "oidc" in given:
        raise ImproperlyConfigured(
            f"{name} has proxy and oidc: both would name accounts, and a person of one could be given another's. Choose one."
        )
    if given and os.environ.get("ACCESS_TOKEN"):
        raise ImproperlyConfigured(
            "ACCESS_TOKEN and LOGIN are set: with accounts no one token opens everything. Remove ACCESS_TOKEN."
        )
    if given and not flag("REQUIRE_TOKEN", default=True):
        raise ImproperlyConfigured(
            "REQUIRE_TOKEN=0 and LOGIN are set: with accounts everybody signs in. Remove REQUIRE_TOKEN."
        )
    return given


def whole(name: str, default: int, *, least: int, most: int) -> int:
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise ImproperlyConfigured(f"{name}={value!r} must be a whole number from {least} to {most}.")
    return number


def words(name: str, default: str) -> list[str]:
    return [word for word in (part.strip() for part in text(name, default).split(",")) if word]


def user_header(name: str, login: tuple[str, ...], trusted: list[str]) -> bytes:
    """The header in which a trusted proxy names who has signed in; empty without that way to sign in."""
    given = text(name, "").lower()
    if "proxy" not in login:
        return b""
    if not re.fullmatch(r"[a-z0-9-]+", given) or given in ("authorization", "cookie", "host"):
        raise ImproperlyConfigured(
            f"{name}={given!r}: LOGIN=proxy needs the name of a header, such as X-Forwarded-User."
        )
    if not trusted:
        raise ImproperlyConfigured(
            f"{name} is believed from TRUSTED_PROXIES alone, which names none: set it, to unix or a network."
        )
    return given.encode()


def proxies(name: str) -> list[str]:
    """Networks in CIDR form and the word ``unix``, parted by commas."""
    return networks(name, names=("unix",))


def networks(name: str, names: tuple[str, ...] = ()) -> list[str]:
    """Networks in CIDR form, parted by commas. ``names``: what else may be among them."""
    found = words(name, "")
    for word in found:
        if word in names:
            continue
        try:
            ipaddress.ip_network(word, strict=False)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} has {word!r}, which is no network: write 10.0.0.0/8 or 127.0.0.1/32."
            ) from None
    return found


def parts_of(name: str, value: str) -> SplitResult:
    try:
        return urlsplit(value)
    except ValueError:
        # Its message may have the password that the address has.
        raise ImproperlyConfigured(
            f"{name} is no address. In a user's name or password write [ as %5B, ] as %5D, other letters than ASCII as their bytes."
        ) from None


def address(name: str) -> str:
    """An address of the web without a slash at its end; empty where it is not set."""
    value = text(name, "").rstrip("/")
    parts = parts_of(name, value)
    if value and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
        raise ImproperlyConfigured(f"{name}={value!r} must begin with https:// (or http://) and a host.")
    return value


MAIL_PORTS = {"smtp": 587, "smtps": 465}
MAIL_TIMEOUT_S = 20


def mail_server(name: str, sender: str) -> dict[str, Any]:
    """Django's settings of a mail server from ``smtp://user:password@host:587`` (STARTTLS; ``?tls=0`` for none) or ``smtps://…:465``; no host where it is not set."""
    value = text(name, "")
    if not value:
        return {"EMAIL_HOST": ""}
    # The value has a password: it is in no message.
    parts = parts_of(name, value)
    try:
        port = parts.port or MAIL_PORTS[parts.scheme]
    except (KeyError, ValueError):
        port = 0
    query = dict(parse_qsl(parts.query))
    if not port or not parts.hostname or query.keys() - {"tls"} or query.get("tls", "1") not in ("0", "1"):
        raise ImproperlyConfigured(
            f"{name} must be smtp://user:password@host:587 or smtps://user:password@host:465."
        )
    if "@" not in text(sender, ""):
        raise ImproperlyConfigured(
            f"{sender} must be the address from which e-mails come, since {name} is set."
        )
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp" and query.get("tls", "1") == "1",
        "EMAIL_TIMEOUT": MAIL_TIMEOUT_S,
        "DEFAULT_FROM_EMAIL": text(sender, ""),
    }


OURS = ("secret-key", "clusters-key", "token", "*.sqlite3*", "*.lock", "imports", "static", "*.log", "tests")
"""What the program keeps right in its folder. A folder that is named may hold more, which is its owner's business."""


def folder(name: str, default: Path) -> Path:
    """The folder of what the program keeps, which nobody but its owner may look into: every account of the machine
    could otherwise read the imported logs."""
    path = Path(text(name, str(default))).expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}: the folder {path} cannot be made: {error.strerror}. Name a folder that can be written."
        ) from error
    ours = [found for pattern in OURS for found in path.glob(pattern)]
    # One that holds something, and nothing of ours yet, may be anything, such as the whole machine's /tmp.
    for kept in [path, *ours] if ours or not any(path.iterdir()) else []:
        _close_to_others(kept)
    return path


def _close_to_others(path: Path) -> None:
    """Take the group's and the others' rights to what is ours; what another account owns is that one's to change."""
    # A file may go while it is looked at: SQLite's journals come and go.
    with contextlib.suppress(OSError):
        rights = path.lstat().st_mode
        shared = rights & stat.S_ISVTX
        if rights & 0o077 and not shared and not stat.S_ISLNK(rights):
            path.chmod(stat.S_IMODE(rights) & 0o700)


SECRET_LENGTH_LEAST = 20
"""Letters of a secret that is given: a shorter one can be guessed."""


def secret(name: str, kept_in: Path, *, random_bytes: int = 50) -> str:
    """The value of ``name``, else one that is drawn once and kept in the file ``kept_in``."""
    if value := os.environ.get(name):
        if len(value) < SECRET_LENGTH_LEAST:
            raise ImproperlyConfigured(
                f"{name} has {len(value)} letters, which can be guessed: use {SECRET_LENGTH_LEAST} or more, or none."
            )
        return value
    try:
        if not kept_in.exists():
            _keep(secrets.token_urlsafe(random_bytes), kept_in)
        kept = kept_in.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name} is not set and {kept_in} cannot be used: {error.strerror}. Set {name}."
        ) from error
    if not kept:
        raise ImproperlyConfigured(f"{kept_in} is empty: delete it, or set {name}.")
    return kept


def place_of_secret(name: str, kept_in: Path) -> str:
    """Where a reader finds what ``secret`` gives. A page shows it to strangers, so it contains no path of this machine."""
    return f"the setting {name}" if os.environ.get(name) else f"the file {kept_in.name} in the data folder"


def _keep(value: str, path: Path) -> None:
    """Write a file that nobody else may read; of two first starts one wins, and both then read the same."""
    own = path.with_name(f"{path.name}.{os.getpid()}")
    own.touch(mode=0o600)
    own.write_text(value)
    try:
        path.hardlink_to(own)
    except FileExistsError:
        pass
    finally:
        own.unlink()


def choice(name: str, default: str, *, of: Collection[str]) -> str:
    value = text(name, default).upper()
    if value not in of:
        raise ImproperlyConfigured(f"{name}={value!r} must be one of {', '.join(of)}.")
    return value


def database(name: str, default: Path) -> dict[str, Any]:
    """Django's description of the database at a URL.

    ``sqlite:////absolute/path`` (or ``sqlite:///relative/path``) and ``postgresql://user:password@host:port/name``,
    where the host may be a socket directory (``?host=/run/postgresql``).
    """
    url = text(name, f"sqlite:///{default}")
    parts = parts_of(name, url)
    if parts.scheme in ("sqlite", "sqlite3"):
        if parts.netloc:
            raise ImproperlyConfigured(
                f"{name}={url!r}: a SQLite address has three slashes before a relative path and four before "
                "an absolute one: sqlite:////absolute/path/to/file.sqlite3."
            )
        path = unquote(parts.path).removeprefix("/")
        if not path:
            raise ImproperlyConfigured(
                f"{name}={url!r} names no file: sqlite:////absolute/path/to/file.sqlite3."
            )
        return sqlite(Path(path).absolute())
    if parts.scheme in ("postgresql", "postgres"):
        return postgresql(name, url)
    raise ImproperlyConfigured(
        f"{name}: {parts.scheme or url!r} is no database that is known here. "
        "Use sqlite:////absolute/path or postgresql://user:password@host:5432/name."
    )


def sqlite(path: Path) -> dict[str, Any]:
    # SQLite would make it readable by every account, and its journals have the rights of the file.
    with contextlib.suppress(OSError):
        path.touch(mode=0o600, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            # Readers go on while one writes; a writer takes its lock at once instead of failing half-way; a
            # second writer waits for it. Measured: three read-then-write threads with the default transaction
            # mode lost 766 of 900 transactions to "database is locked", with this one none.
            # Some builds overwrite all that is deleted, by way of the journal: 98 MB were written to delete 100 MB.
            # Where that costs no writing of its own they still do; so it is 4 MB, and a full disk can be emptied.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=FAST;",
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
        },
        # The shared in-memory database that Django would take for tests ignores the timeout.
        "TEST": {"NAME": str(path.with_name(f"test-{os.getpid()}.sqlite3"))},
    }


def postgresql(name: str, url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    try:
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: the port in {_without_password(url)!r} is no number.") from error
    database_name = unquote(parts.path).lstrip("/")
    if not database_name:
        raise ImproperlyConfigured(
            f"{name}: {_without_password(url)!r} names no database: postgresql://user:password@host:5432/name."
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database_name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": str(port or options.pop("port", "")),
        # Under ASGI each request has a thread of its own, so a connection that is kept would only be leaked.
        "CONN_MAX_AGE": 0,
        "OPTIONS": options,
    }


def redis(name: str) -> str | None:
    url = text(name, "")
    if not url:
        return None
    if parts_of(name, url).scheme not in ("redis", "rediss", "unix"):
        raise ImproperlyConfigured(
            f"{name}={_without_password(url)!r} is no Redis address: use redis://host:6379/0."
        )
    return url


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return url if parts.password is None else url.replace(f":{parts.password}@", ":…@")
