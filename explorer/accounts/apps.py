from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "explorer.accounts"
    label = "accounts"

    def ready(self) -> None:
        from explorer.accounts import sessions  # noqa: F401  (hears when somebody signs in)
