"""What is to be sent: stored first, then tried until it is taken, given up, or too old; and the log of all that.

The queue is rows of the database, so it outlives the process; the one that holds the cluster's lease sends. A process that
dies between the answer and the row sends once more: a message has an ``id``, by which its receiver knows it again.
"""

from __future__ import annotations

import asyncio
import logging
import random
import smtplib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Final

import orjson
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.mail import send_mail
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from groups.alert_models import Alert, AlertRule, Delivery
from groups.cluster_models import Cluster
from groups.history.words import counted
from groups.jobs.announce import announce, cluster_group
from groups.packs.listed_summary import headline_text
from groups.terminal import page_text, terminal_name, terminal_text
from groups.watching.alerts import registry
from groups.watching.alerts.addresses import networks
from groups.watching.alerts.destination import Destination, stored_destination
from groups.watching.alerts.forms import Form, body_of, mail_of, token_of
from groups.watching.alerts.webhook import Answer, post

log = logging.getLogger(__name__)

WAITING_MOST: Final = 500
"""Messages of one cluster that wait. A receiver that is away must not fill the disk; what comes beyond is dropped, as the
log reports."""

DROPPED: Final = "Too many messages were waiting already"

LOG_MOST: Final = 1_000
"""Messages that are over and stand in the log."""

ALERTS_KEPT_MOST: Final = 2_000
"""Alerts of one cluster that ended and are kept."""

TRIES_MOST: Final = 8
RETRY_LEAST_S: Final = 5.0
RETRY_MOST_S: Final = 1_800.0
"""Twice as long after each try: eight of them last ten minutes and more."""

AT_ONCE: Final = 8
"""Messages that are under way together."""

LOOK_EVERY_S: Final = 1.0

_mailers: Final = ThreadPoolExecutor(AT_ONCE, "mail")
"""A mail server that is away holds a thread for its timeout: of these, not the one that asks the database, nor those that resolve names."""


def enqueue(rule: AlertRule, alert: Alert | None, status: str, text: str) -> Delivery | None:
    """A message for the rule's webhook; null where it has none."""
    if not rule.sealed:
        return None
    waiting = Delivery.objects.filter(cluster=rule.cluster, state=Delivery.State.WAITING).count()
    full = waiting >= WAITING_MOST
    return Delivery.objects.create(
        cluster=rule.cluster,
        rule=rule,
        alert=alert,
        message=message_of(rule, alert, status, text),
        state=Delivery.State.DROPPED if full else Delivery.State.WAITING,
        answer=DROPPED if full else "",
        next_try=timezone.now(),
    )


def message_of(rule: AlertRule, alert: Alert | None, status: str, text: str) -> dict[str, Any]:
    """What a webhook is sent. ``text`` is what chat tools show."""
    cluster = rule.cluster.name
    moment = None if alert is None else registry.moment_of(alert)
    url = None if moment is None else settings.PUBLIC_URL + moment
    return {
        "type": "alert",
        "status": status,
        "id": None if alert is None else alert.pk,
        "cluster": cluster,
        "group": "" if alert is None else alert.group,
        "rule": {
            "id": rule.pk,
            "kind": rule.kind,
            "group": rule.group,
            "limits": rule.limits,
            "says": registry.text_of(rule),
        },
        "says": text,
        "headline": ""
        if alert is None or alert.timeline is None
        else headline_text(alert.timeline.in_short()),
        "text": page_text(f"[{cluster}] {text}") + (f" {url}" if url else ""),
        "since_ms": None if alert is None else alert.since_ms,
        "at_ms": None if alert is None else alert.at_ms,
        "ended_ms": None if alert is None else alert.ended_ms,
        "url": url,
    }


def retry_after_s(tries: int, answer: Answer) -> float:
    """Twice as long each time, jittered; not before the receiver wants it."""
    length_s: float = min(RETRY_LEAST_S * 2.0 ** (tries - 1), RETRY_MOST_S) * random.uniform(0.75, 1.25)
    return max(length_s, float(answer.after_s or 0))


class Sender:
    """Sends what is due of one cluster, until it is cancelled."""

    def __init__(self, cluster_id: str) -> None:
        self.cluster_id = cluster_id

    async def run(self) -> None:
        while True:
            try:
                await self.send_due()
            except DatabaseError as error:
                log.warning("The messages to send could not be read: %s", error)
                await sync_to_async(close_old_connections)()
            await asyncio.sleep(LOOK_EVERY_S)

    async def send_due(self) -> int:
        """Try all that is due once; how many were tried."""
        due = await sync_to_async(self._due)()
        answers = await asyncio.gather(*(self._send(row, destination) for row, destination in due))
        for (row, _), answer in zip(due, answers, strict=True):
            await sync_to_async(self._take)(row, answer)
        if due:
            await sync_to_async(self._after)()
        return len(due)

    def _due(self) -> list[tuple[Delivery, Destination | None]]:
        rows = Delivery.objects.filter(
            cluster_id=self.cluster_id, state=Delivery.State.WAITING, next_try__lte=timezone.now()
        ).select_related("rule")
        return [(row, stored_destination(row.rule)) for row in rows.order_by("next_try", "id")[:AT_ONCE]]

    async def _send(self, row: Delivery, destination: Destination | None) -> Answer:
        if destination is None:
            problem = "The webhook was encrypted with another key (CLUSTERS_KEY): add the rule anew"
            return Answer(ok=False, text=problem, again=False)
        try:
            if destination.form is Form.MAIL:
                send = sync_to_async(sent_mail, thread_sensitive=False, executor=_mailers)
                return await send(row.message, destination.people)
            body = body_of(destination.form, row.message, destination.key)
        except (ValueError, TypeError, OverflowError) as error:
            # A name or a time comes from a cluster, and can be of a kind that the form cannot have.
            problem = f"The message cannot be written as {destination.form}: {error}"
            return Answer(ok=False, text=problem, again=False)
        return await post(
            destination.url,
            body,
            token=token_of(destination.form, destination.key),
            also=networks(settings.WEBHOOK_NETWORKS),
        )

    def _take(self, row: Delivery, answer: Answer) -> None:
        row.tries += 1
        row.answer = answer.text[:300]
        if answer.ok:
            row.state = Delivery.State.DELIVERED
        elif not answer.again or row.tries >= TRIES_MOST:
            row.state = Delivery.State.FAILED
            log.warning("A message of an alert was not delivered: %s", answer.text)
        else:
            row.next_try = timezone.now() + timedelta(seconds=retry_after_s(row.tries, answer))
        # Its rule may have been removed meanwhile, and the message with it.
        Delivery.objects.filter(pk=row.pk).update(
            tries=row.tries,
            answer=row.answer,
            state=row.state,
            next_try=row.next_try,
            changed=timezone.now(),
        )

    def _after(self) -> None:
        summarize_dropped(self.cluster_id)
        over = Delivery.objects.filter(cluster_id=self.cluster_id).exclude(state=Delivery.State.WAITING)
        oldest = list(over.values_list("pk", flat=True)[LOG_MOST:][:LOG_MOST])
        if oldest:
            Delivery.objects.filter(pk__in=oldest).delete()
        publish(self.cluster_id)


def summarize_dropped(cluster_id: str) -> None:
    """Once there is room again: one message a rule with how many were dropped, so that none is lost in silence."""
    rows = Delivery.objects.filter(cluster_id=cluster_id)
    if rows.filter(state=Delivery.State.WAITING).count() > WAITING_MOST // 2:
        return
    dropped = rows.filter(state=Delivery.State.DROPPED, answer=DROPPED)
    for rule in AlertRule.objects.filter(pk__in=dropped.values("rule")).select_related("cluster"):
        count = dropped.filter(rule=rule).update(answer=f"{DROPPED}; counted in a message")
        enqueue(
            rule,
            None,
            "dropped",
            f"{counted(count, 'message')} of this rule could not wait, and were dropped: {registry.text_of(rule)}",
        )


def sent_mail(message: dict[str, Any], people: list[str]) -> Answer:
    """Send by Django's mail backend; a mail server that is away is tried again, one that refuses for good is not."""
    subject, text = mail_of(message)
    try:
        send_mail(terminal_name(subject), terminal_text(text), None, people)
    except smtplib.SMTPResponseException as error:
        words = error.smtp_error
        text = words.decode(errors="replace") if isinstance(words, bytes) else words
        return Answer(ok=False, text=f"{error.smtp_code} {text}", again=error.smtp_code < 500)
    except smtplib.SMTPRecipientsRefused:
        return Answer(ok=False, text="The mail server refuses all addresses", again=False)
    except (OSError, smtplib.SMTPException) as error:
        return Answer(ok=False, text=f"The mail server could not be asked: {error}"[:300])
    return Answer(ok=True, text=f"Sent to {len(people)}")


def publish(cluster_id: str, alerts: list[registry.ShownAlert] | None = None) -> None:
    """Notify the open pages of a cluster that something of its alerts changed; ``alerts`` are those that began or ended."""
    text = orjson.dumps({"type": "alerts", "alerts": alerts or []}).decode()
    announce(cluster_group(cluster_id), {"type": "cluster.groups", "text": text})


def trial_of(rule: AlertRule) -> Delivery | None:
    """A message that tests the webhook."""
    text = f"This is a test of the rule: {registry.text_of(rule)}"
    return enqueue(rule, None, "test", text)


def forget(cluster: Cluster, keep_days: int) -> None:
    """Remove alerts that ended long ago, and all but the newest of those that ended."""
    before_ms = round((timezone.now() - timedelta(days=keep_days)).timestamp() * 1000)
    ended = Alert.objects.filter(cluster=cluster).exclude(ended_ms=None)
    ended.filter(ended_ms__lt=before_ms).delete()
    beyond = list(ended.values_list("pk", flat=True)[ALERTS_KEPT_MOST:][:ALERTS_KEPT_MOST])
    if beyond:
        Alert.objects.filter(pk__in=beyond).delete()
