from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "explorer.accounts"
    label = "accounts"

    def ready(self) -> None:
        from explorer.accounts import audit, sessions  # noqa: F401  (notified when somebody signs in)
