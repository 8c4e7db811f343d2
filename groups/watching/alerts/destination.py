"""Where a rule's messages go: a webhook and the form of its body, or people's e-mail. It is stored encrypted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from groups.alert_models import AlertRule
from groups.clusters.faults import ClusterError
from groups.watching.alerts.forms import KEYED, Form
from groups.watching.alerts.rules import BadRule
from groups.watching.alerts.webhook import BadUrl, checked, shown
from groups.watching.secrets import seal, unseal

MAIL: Final = "mailto:"
PEOPLE_MOST: Final = 10
"""Addresses of one rule; a list of people is the mail server's to keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """``key``: PagerDuty's routing key or Grafana's token, empty for other forms."""

    url: str
    form: Form = Form.JSON
    key: str = ""

    @property
    def people(self) -> list[str]:
        """The addresses of an e-mail."""
        return [unquote(each) for each in self.url.removeprefix(MAIL).split(",")]

    @property
    def shown(self) -> str:
        """What is shown of it: nothing of its path, query or key, and of people all but their names."""
        if self.form is Form.MAIL:
            return f"{MAIL}…@{self.people[0].rpartition('@')[2]}"
        return shown(self.url)

    def sealed(self) -> bytes:
        return seal({"url": self.url, "form": self.form.value, "key": self.key})


def destination_of(given: Mapping[str, Any]) -> Destination | None:
    """From JSON: ``webhook``, ``form`` and ``key``; null where no webhook is given. ``BadRule`` contains what is wrong."""
    values = {name: given.get(name) or "" for name in ("webhook", "form", "key")}
    for name, value in values.items():
        if not isinstance(value, str):
            raise BadRule(f"{name} must be a text, or empty for none.", name)
    url = values["webhook"]
    if not url:
        return None
    try:
        form = Form(values["form"] or (Form.MAIL if url.startswith(MAIL) else Form.JSON))
    except ValueError:
        raise BadRule(f"form must be one of {', '.join(Form)}.", "form") from None
    if (form in KEYED) != bool(values["key"]):
        raise BadRule(
            "key is PagerDuty's routing key, or the token of a Grafana service account: the forms pagerduty and grafana need one, no other has one.",
            "key",
        )
    if values["key"] and not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", values["key"]):
        raise BadRule("key must be of letters and digits, 100 at most.", "key")
    found = Destination(url=url, form=form, key=values["key"])
    if form is Form.MAIL:
        _check_people(found)
    else:
        try:
            checked(url)
        except BadUrl as error:
            raise BadRule(str(error), "webhook") from None
    return found


def _check_people(found: Destination) -> None:
    if not settings.EMAIL_HOST:
        raise BadRule("This server sends no e-mail: its setting MAIL_URL names no mail server.", "webhook")
    if not found.url.startswith(MAIL) or len(found.people) > PEOPLE_MOST:
        raise BadRule(
            f"An e-mail goes to mailto:ada@example.org, to {PEOPLE_MOST} people at most, parted by commas.",
            "webhook",
        )
    for each in found.people:
        try:
            validate_email(each)
            if not each.isprintable():
                raise ValueError(each)
            each.rpartition("@")[2].encode("idna")
        except (ValidationError, ValueError):
            raise BadRule(f"{each[:100]!r} is no address of an e-mail.", "webhook") from None


def stored_destination(row: AlertRule) -> Destination | None:
    """The rule's; null for none, and where it was encrypted with another key or by a later version that has more forms."""
    if not row.sealed:
        return None
    try:
        kept = unseal(bytes(row.sealed))
        # Rules of earlier versions have the URL alone.
        url, form = kept.get("url", ""), Form(kept.get("form", Form.JSON))
    except (ClusterError, ValueError):
        return None
    return Destination(url=url, form=form, key=kept.get("key", "")) if url else None
