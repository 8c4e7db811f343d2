"""Clusters and their alert rules as one file that a team keeps in its repository: read, applied, and written from what is there.

clusters:
  prod-eu:
    properties: {bootstrap.servers: "kafka-1.example:9092", sasl.password: "${PROD_EU_PASSWORD}"}
    rules:
      - {kind: late, lag_s: 300, webhook: "${CHAT}", form: slack}
    silences:
      - {group: orders-*, until: 2026-12-01T08:00:00Z, why: "the move to eu-2", who: ada}
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import yaml

from groups.alert_models import AlertRule, Silence
from groups.cluster_models import Cluster
from groups.clusters.faults import ClusterError
from groups.clusters.settings import SECRET, settings_of
from groups.watching import registry
from groups.watching.alerts import registry as rules
from groups.watching.alerts import silences
from groups.watching.alerts.destination import Destination, destination_of, stored_destination
from groups.watching.alerts.rules import BadRule, rule_of
from groups.watching.alerts.silences import SilenceAsked
from groups.watching.registry import CLUSTERS_MOST, BadCluster
from groups.watching.secrets import seal

FILE_BYTES_MOST: Final = 1024 * 1024
"""50 clusters with 50 rules each are a quarter of this."""

_NAME = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_KEYS: Final = {"properties", "rules", "silences", "watched"}


class BadDeclaration(Exception):
    """A file that cannot be applied: one line with the place."""


def read(text: str, environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The clusters of a file by name, with ``${NAME}`` of ``environment`` put in; ``$${NAME}`` is the text ``${NAME}``. ``BadDeclaration`` states what is wrong, and where."""
    if len(text) > FILE_BYTES_MOST:
        raise BadDeclaration(f"The file has more than {FILE_BYTES_MOST:,} letters.")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise BadDeclaration(f"Line {mark.line + 1 if mark else 1}: this is no YAML.") from None
    except RecursionError:
        raise BadDeclaration("The file is nested too deeply.") from None
    clusters = value.get("clusters") if isinstance(value, dict) and value.keys() == {"clusters"} else None
    if not isinstance(clusters, dict):
        raise BadDeclaration("The file must have the key clusters alone, with a cluster for each name.")
    return {str(name): _cluster(str(name), each, environment) for name, each in clusters.items()}


def _cluster(name: str, given: Any, environment: Mapping[str, str]) -> dict[str, Any]:
    if not isinstance(given, dict) or given.keys() - _KEYS:
        raise BadDeclaration(f"clusters.{name} must have no other keys than {', '.join(sorted(_KEYS))}.")
    found: dict[str, Any] = _filled(given, f"clusters.{name}", environment)
    properties, declared = found.get("properties"), found.setdefault("rules", [])
    if properties is not None and not isinstance(properties, dict):
        raise BadDeclaration(f"clusters.{name}.properties must be Kafka's client properties by name.")
    if not isinstance(found.setdefault("watched", True), bool):
        raise BadDeclaration(f"clusters.{name}.watched must be true or false.")
    if not isinstance(declared, list):
        raise BadDeclaration(f"clusters.{name}.rules must be a list.")
    for at, rule in enumerate(declared):
        where = f"clusters.{name}.rules[{at}]"
        if not isinstance(rule, dict):
            raise BadDeclaration(f"{where} must be a rule such as {{kind: stuck}}.")
        try:
            rule_of(rule)
            destination_of(rule)
        except BadRule as error:
            raise BadDeclaration(f"{where}.{error.field}: {error}") from None
    found["silences"] = _silences(name, found.get("silences", []))
    if properties is not None:
        found["properties"] = {str(key): _property(value) for key, value in properties.items()}
        try:
            settings_of(found["properties"], by_hand=False)
        except ClusterError as error:
            raise BadDeclaration(f"clusters.{name}.properties: {error}") from None
    return found


def _silences(name: str, declared: Any) -> list[SilenceAsked]:
    if not isinstance(declared, list):
        raise BadDeclaration(f"clusters.{name}.silences must be a list.")
    found = []
    for at, silence in enumerate(declared):
        where = f"clusters.{name}.silences[{at}]"
        if not isinstance(silence, dict):
            raise BadDeclaration(
                f"{where} must be a silence such as {{until: 2026-12-01T08:00:00Z, why: a deploy}}."
            )
        try:
            found.append(silences.silence_of(silence))
        except BadRule as error:
            raise BadDeclaration(f"{where}.{error.field}: {error}") from None
    return found


def _property(value: object) -> str:
    """As a properties file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(value: Any, where: str, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, f"{where}.{key}", environment) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, f"{where}[{at}]", environment) for at, each in enumerate(value)]
    if not isinstance(value, str):
        return value

    def put(found: re.Match[str]) -> str:
        if found[1]:
            return found[0][1:]
        if found[2] not in environment:
            raise BadDeclaration(f"{where}: the environment has no {found[2]}.")
        return environment[found[2]]

    return _NAME.sub(put, value)


def apply(clusters: Mapping[str, dict[str, Any]], *, prune: bool) -> Iterator[str]:
    """Make what is stored as the file has it; a sentence for each change. ``prune``: rules that it does not have are removed.

    A cluster that the file does not have stays: with it all that was recorded of it would go. ``BadDeclaration`` must undo all: the caller has a transaction.
    """
    for name, declared in clusters.items():
        cluster = Cluster.objects.filter(name=name).first()
        if cluster is None:
            cluster = _added(name, declared)
            yield f"{name}: added"
        elif (properties := declared.get("properties")) is not None:
            yield from _changed(cluster, properties)
        if cluster.watched != declared["watched"]:
            cluster = registry.set_watched(cluster, watched=declared["watched"])
            yield f"{name}: {'watched' if cluster.watched else 'paused'}"
        yield from _rules(cluster, declared["rules"], prune=prune)
        yield from _silenced(cluster, declared["silences"], prune=prune)
    for name in Cluster.objects.exclude(name__in=clusters).values_list("name", flat=True):
        yield f"{name}: not in the file, left as it is"


def _added(name: str, declared: Mapping[str, Any]) -> Cluster:
    if declared.get("properties") is None:
        raise BadDeclaration(f"clusters.{name} is not there yet and has no properties.")
    try:
        made = registry.add(name, declared["properties"], by_hand=False)
    except BadCluster as error:
        raise BadDeclaration(f"clusters.{name}: {error}") from None
    # Trusted as the server's own settings are.
    made.origin = Cluster.Origin.FILE
    made.save(update_fields=["origin"])
    return made


def _changed(cluster: Cluster, properties: Mapping[str, str]) -> Iterator[str]:
    try:
        same = registry.properties_of(cluster) == properties
    except ClusterError:
        same = False
    if same:
        return
    if cluster.origin == Cluster.Origin.ENVIRONMENT:
        raise BadDeclaration(
            f"clusters.{cluster.name}.properties: the environment names this cluster, and has them."
        )
    cluster.sealed, cluster.origin = seal(properties), Cluster.Origin.FILE
    cluster.save(update_fields=["sealed", "origin"])
    yield f"{cluster.name}: other properties; whoever watches it takes them when it connects again"


def _rules(cluster: Cluster, declared: list[dict[str, Any]], *, prune: bool) -> Iterator[str]:
    wanted = {_identity(rule_of(rule).limits, rule, destination_of(rule)): rule for rule in declared}
    rows, stored = list(cluster.rules.all()), dict[Any, AlertRule]()
    for row in rows:
        given = {"kind": row.kind, "group": row.group}
        stored.setdefault(_identity(row.limits, given, stored_destination(row)), row)
    kept = {row.pk for identity, row in stored.items() if identity in wanted}
    for row in rows if prune else ():
        if row.pk not in kept:
            yield f"{cluster.name}: removed the rule {rules.text_of(row)}"
            row.delete()
    for identity, rule in wanted.items():
        if identity not in stored:
            try:
                row = rules.add(cluster, rule)
            except BadRule as error:
                raise BadDeclaration(f"clusters.{cluster.name}.rules: {error}") from None
            yield f"{cluster.name}: added the rule {rules.text_of(row)}"


def _silenced(cluster: Cluster, declared: list[SilenceAsked], *, prune: bool) -> Iterator[str]:
    """One of the file whose time is past is left out: the file need not change for that."""
    now_ms = time.time_ns() // 1_000_000
    stored = {
        SilenceAsked(row.kind, row.group, row.until_ms, row.why, row.who): row
        for row in silences.active(cluster, now_ms)
    }
    for asked, row in stored.items():
        if prune and asked not in declared:
            yield f"{cluster.name}: ended the silence {asked.why!r}"
            row.delete()
    for asked in declared:
        if asked not in stored and asked.until_ms > now_ms:
            try:
                silences.add(cluster, asked, now_ms)
            except BadRule as error:
                raise BadDeclaration(f"clusters.{cluster.name}.silences: {error}") from None
            yield f"{cluster.name}: added the silence {asked.why!r}"


def _identity(limits: Mapping[str, Any], rule: Mapping[str, Any], destination: object) -> Any:
    return rule["kind"], rule.get("group") or "", tuple(sorted(limits.items())), destination


def _as_text(value: Any) -> Any:
    """A value as the file has it. What somebody typed on a page names no variable, or the file would put in a secret when it is applied."""
    return _NAME.sub(r"$\g<0>", value) if isinstance(value, str) else value


def written() -> str:
    """The file of what is there. A secret is ``${NAME}``, which the environment must have when the file is applied."""
    clusters = {}
    for cluster in Cluster.objects.order_by("name")[:CLUSTERS_MOST]:
        prefix = re.sub(r"[^A-Z0-9]", "_", cluster.name.upper())
        known: dict[str, Any] = {"watched": cluster.watched}
        if cluster.origin != Cluster.Origin.ENVIRONMENT:
            known["properties"] = {
                name: f"${{{prefix}_{re.sub(r'[^A-Z0-9]', '_', name.upper())}}}"
                if name in SECRET
                else _as_text(value)
                for name, value in registry.shown(cluster).items()
            }
        destinations: list[Destination] = []
        held = silences.active(cluster, time.time_ns() // 1_000_000)
        known["silences"] = [
            {name: _as_text(value) for name, value in _written_silence(row).items() if value != ""}
            for row in held
        ]
        known["rules"] = [_written_rule(row, prefix, destinations) for row in cluster.rules.all()]
        clusters[cluster.name] = known
    return yaml.safe_dump({"clusters": clusters}, sort_keys=False, allow_unicode=True)


def _written_silence(row: Silence) -> dict[str, Any]:
    until = datetime.fromtimestamp(row.until_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return {"kind": row.kind, "group": row.group, "until": until, "why": row.why, "who": row.who}


def _written_rule(row: AlertRule, prefix: str, destinations: list[Destination]) -> dict[str, Any]:
    """``destinations``: those of the cluster's rules before, each with variables of its own; this rule's is added."""
    found = {"kind": row.kind, "group": _as_text(row.group), **row.limits}
    destination = stored_destination(row)
    if destination is not None:
        if destination not in destinations:
            destinations.append(destination)
        number = destinations.index(destination) + 1
        own = prefix if number == 1 else f"{prefix}_{number}"
        found |= {"webhook": f"${{{own}_WEBHOOK}}", "form": destination.form.value}
        found |= {"key": f"${{{own}_KEY}}"} if destination.key else {}
    return {name: value for name, value in found.items() if value != ""}
