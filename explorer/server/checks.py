"""Django's system checks: a wrong set-up is reported before anything starts, with what would be right."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from explorer.server.static_version import package_data
from explorer.server.staticfiles import PLOTLY


@register()
def var_can_be_written(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    if os.access(settings.VAR, os.W_OK):
        return []
    return [
        Error(
            f"The folder {settings.VAR} cannot be written.",
            hint="Give this user the right to write there, or name another folder with REBALANCE_VAR.",
            id="explorer.E001",
        )
    ]


@register()
def plotly_is_there(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    if (package_data() / PLOTLY.rpartition("/")[2]).is_file():
        return []
    return [
        Error(
            "The installed plotly package has no plotly.min.js; the figures need it.",
            hint="Install the locked packages: uv sync --frozen.",
            id="explorer.E002",
        )
    ]


@register()
def parts_fit_together(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    on_redis = bool(settings.REDIS_URL)
    on_postgresql = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")
    if on_redis == on_postgresql:
        return []
    if on_redis:
        return [
            Warning(
                "REDIS_URL is set while the database is SQLite: worker processes on other machines cannot reach it.",
                hint="Set DATABASE_URL to a PostgreSQL database, too.",
                id="explorer.W001",
            )
        ]
    return [
        Warning(
            "The database is PostgreSQL while REDIS_URL is not set: each server process has its own queue and "
            "channel layer, so run only one.",
            hint="Set REDIS_URL where there are several server or worker processes.",
            id="explorer.W002",
        )
    ]


@register()
def hosts_are_loopback(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    beyond = [host for host in settings.ALLOWED_HOSTS if host not in (*settings.LOOPBACK, "testserver")]
    if not beyond or settings.LOGIN:
        return []
    return [
        Warning(
            f"ALLOWED_HOSTS names {', '.join(beyond)}: without LOGIN whoever reaches the port and has the token sees all.",
            hint="Keep the server on loopback or behind a proxy that asks who is there, or set LOGIN=password.",
            id="explorer.W003",
        )
    ]
