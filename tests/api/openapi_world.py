"""Stored data of every kind, and a request for each operation of the API's document."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from django.core.management import call_command
from django.utils import timezone
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from explorer import case_studies
from explorer.server.openapi.document import document
from explorer.sharing import links
from groups import storage
from groups.alert_models import Alert
from groups.cluster_models import WatchedGroup
from groups.exporting import Wanted
from groups.models import Import, Timeline
from groups.places import ROOT
from groups.watching import registry
from groups.watching.alerts import registry as rules
from simulations.jobs import proof_runs, remedy_runs, sweep_runs
from simulations.jobs.run_tasks import engine_digest
from simulations.sweeps.asked import axes_of
from simulations.world import studies
from tests.api.test_assignment import ODD, TWO, watched

STUDY = "released-six-partitions"
OPEN = ("Finding", "Problem")
"""Shapes with fields beside the named ones: each kind of finding has its own, an error may have its line."""

RUN = {"scenario": STUDY}
LINK = "g=abcabc.a&t=12,6,3&s=same&from=range&e=join"
LESSON = "three-epochs"


def world() -> dict[str, Any]:
    """Stores a case study, the sample import, a sweep, and a cluster with a rule, an alert and a watched group; ids by the names of parts of addresses."""
    [(_, batches)] = case_studies.recorded([STUDY])
    storage.replace_timeline(
        STUDY,
        batches,
        title="Six partitions",
        source=Timeline.Source.CASE_STUDY,
        semantics="kafka",
        scenario=studies.text(STUDY),
        seed=studies.load(STUDY).seed,
        engine=engine_digest(),
    )
    call_command("import_log", str(ROOT / "groups/samples/orders-enrich"), "--engine", "local", verbosity=0)
    sweep = sweep_runs.perform(
        sweep_runs.create(axes_of({"shapes": ["6x3x21"], "events": ["join"], "seeds": 2})).id
    )
    live = watched(TWO, ODD)
    cluster = registry.get(live.cluster_id or "")
    rule = rules.add(cluster, {"kind": "stuck", "webhook": "https://chat.example/x"})
    silence = cluster.silences.create(id="silence", until_ms=2**50, why="a deploy")
    Alert.objects.create(
        id="alert", rule=rule, cluster=cluster, group="orders", says="stuck", since_ms=1, at_ms=2
    )
    study = storage.get(STUDY)
    link, _ = links.make(study, links.Asked(wanted=Wanted(made=timezone.now(), view="reader")))
    record = next(each for each in storage.every_entry(study) if each["kind"] == "record")
    return {
        "timeline_id": STUDY,
        "import_id": Import.objects.get().pk,
        "imported": Timeline.objects.get(source="import", group="orders-enrich").pk,
        "live": live.pk,
        "group": WatchedGroup.objects.get().group,
        "sweep_id": sweep.id,
        "cluster_id": cluster.pk,
        "rule_id": rule.pk,
        "silence_id": silence.pk,
        "search_id": remedy_runs.create(study, 15, 2).id,
        "proof_id": proof_runs.create("p", {"sample": "recorded-classic"}).id,
        "link_id": link.id,
        "note_id": study.notes.create(id="note", sequence=1, text="@ada is this ours?").pk,
        "name": LESSON,
        "first": 1,
        "sequence": record["sequence"],
        "cell": 0,
        "seed": 1,
    }


class Asked(NamedTuple):
    """An operation of the document, with its address."""

    path: str
    method: str
    row: Mapping[str, Any]
    item: Mapping[str, Any]

    def address(self, ids: Mapping[str, Any]) -> str:
        return self.path.format_map(ids)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def operations() -> Iterator[Asked]:
    for path, item in document()["paths"].items():
        for method, row in item.items():
            if method != "parameters":
                yield Asked(path, method.upper(), row, item)


def queries(ids: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Query strings to ask an operation with, by its id; all others are asked without one."""
    return {
        "get-watch": [{"of": "members"}, {"of": "state"}],
        "get-digest": [{"of": of} for of in ("members", "partitions", "group")],
        "get-changes": [{"after": 0}],
        "get-cluster-timelines": [{"group": ids["group"]}],
        "get-forks": [{"at": 15}],
        "get-frame": [{"at": 0}, {}],
        "get-groups": [{}, {"import": ids["import_id"]}, {"cluster": ids["cluster_id"]}],
        "get-kept": [{}, {"source": "case-study", "days": 1}],
        "get-laboratory": [{}, {"timeline": ids["timeline_id"], "at": 60}],
        "get-rehearsal": [{"members": 1, "topics": "orders:1"}],
        "get-rehearsal-plan": [{"members": 1, "topics": "orders:1"}],
        "get-assignment": [{}, {"at": 17, "joins": "1"}],
    }


def bodies(ids: Mapping[str, Any]) -> dict[str, Any]:
    """A body that each operation takes, by its id; none for those that take no body."""
    cluster = {"bootstrap.servers": "127.0.0.1:1"}
    return {
        "post-runs": RUN | {"semantics": None, "seed": 1, "release": ""},
        "post-forks": {"at": 30, "title": "Branch", "set": {}, "faults": []},
        "patch-timeline": {"title": "Renamed"},
        "patch-topics": {},
        "post-notes": {"text": "@ada is this ours?", "at": 1, "kind": "question"},
        "patch-note": {"text": "it is"},
        "post-together": {"who": "window01", "does": "presents", "turn": 1, "view": "?at=5"},
        "post-kept-delete": {"timelines": ["gone"], "imports": []},
        "post-inspect": {"text": "00 01", "name": "it", "edits": [], "guess": True},
        "post-inspect-compare": {"first": {"text": "00 01"}, "second": {"text": "00 02"}},
        "post-imports": {"sample": True},
        "patch-import": {"title": "Renamed"},
        "post-clusters": {"name": "prod-us", "properties": cluster},
        "post-clusters-check": {"properties": cluster},
        "patch-cluster": {"watched": True},
        "post-cluster-rules": {"kind": "storm", "group": "", "webhook": "", "count": 5, "within_s": 600},
        "post-cluster-silences": {
            "until": (timezone.now() + timedelta(hours=1)).isoformat(), "why": "a deploy", "group": "orders-*", "kind": "lag", "who": "ada",
        },
        "patch-cluster-rule": {"enabled": True},
        "post-laboratory": {"query": LINK, "changes": [{"what": "sizes", "to": "equal"}]},
        "post-laboratory-runs": {"query": LINK, "board": 6, "changes": []},
        "post-rehearsal": {"query": "members=1&topics=orders:1"},
        "post-rehearsal-plan": {"query": "members=1&topics=orders:1"},
        "post-rehearsal-runs": {"query": "members=1&topics=orders:1", "way": "planned"},
        "post-lessons-check": {"text": "title: A\n"},
        "post-runs-check": {"scenario": "topics: {}\n"},
        "post-lessons-runs": {"lesson": LESSON, "at_ms": 1_000, "acts": []},
        "post-remedies": {"at": 15, "seeds": 2},
        "post-remedy-branches": {"remedy": "static"},
        "post-proofs": {"sample": "recorded-classic"},
        "post-sweeps": {"assignors": ["classic/range"], "shapes": ["6x3x21"], "events": ["join"], "seeds": 2, "first_seed": 1},
        "post-exports": {"format": "data", "from": 1, "to": 40, "hide_names": True, "key": None, "view": "reader", "at": 5},
        "post-comparison-exports": {"runs": [ids["timeline_id"], ids["imported"]], "from_ms": 0, "at_ms": 0, "hide_names": True},
        "post-laboratory-exports": {"query": LINK, "board": 1, "hide_names": True, "cell": None},
        "post-pseudonyms": {"from": 1, "to": 40, "key": None},
        "post-links": {"days": 7, "embed_origins": [], "view": "reader", "from": 1, "to": 40},
        "post-laboratory-links": {"query": LINK, "board": 1, "days": 7, "embed_origins": []},
    }  # fmt: skip


@cache
def registry_of(*, closed: bool) -> Registry[Any]:
    """The document under the name of its references; ``closed``: a field that is not declared is an error."""
    contents = copy.deepcopy(document())
    if closed:
        for name, schema in contents["components"]["schemas"].items():
            if name not in OPEN:
                close(schema)
        for item in contents["paths"].values():
            close(item)
    return Registry().with_resource("urn:api", Resource(contents, DRAFT202012))


def close(schema: Any) -> None:
    if isinstance(schema, list):
        for each in schema:
            close(each)
    elif isinstance(schema, dict):
        if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
            schema["additionalProperties"] = False
        for key, each in schema.items():
            if key != "allOf":
                close(each)


def problems(pointer: str, value: Any, *, closed: bool = False) -> list[str]:
    """What is wrong with a value by the schema at a place of the document."""
    schema = {"$ref": f"urn:api#{pointer}"}
    found = Draft202012Validator(schema, registry=registry_of(closed=closed)).iter_errors(value)
    return [f"{error.json_path}: {error.message[:300]}" for error in found]


def pointer(asked: Asked, *keys: str) -> str:
    """The place of a part of an operation."""
    names = (asked.path, asked.method.lower(), *keys)
    return "/paths/" + "/".join(
        name.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D") for name in names
    )
