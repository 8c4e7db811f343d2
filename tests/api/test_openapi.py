"""The API's own document: every address has a row, every answer its shape, and no value brings a status that is not declared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
import schemathesis
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from hypothesis import HealthCheck, Phase, given, strategies
from hypothesis import settings as hypothesis_settings
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from explorer.pages.imports import uploading
from explorer.pages.proofs import starting as proofs
from explorer.pages.remedies import views as remedies
from explorer.pages.runs import starting
from explorer.pages.sweeps import starting as sweep_starting
from explorer.server.openapi.document import addresses, document
from explorer.server.openapi.tables import OPERATIONS
from explorer.watchers import watchers
from groups.models import Timeline
from simulations.jobs import sweep_runs
from tests.api.openapi_world import Asked, bodies, operations, pointer, problems, queries, world
from tests.tasks.idle import close_idle_children

JSON = "application/json"
WRONG = (None, True, -1, 1.5, 10**30, "", "\0", "é" * 300, [], [None], {}, {"": None})
"""Values of every type, most of which are wrong wherever they come."""

WRONG_IN_ADDRESS = ("", "-1", "9" * 30, "x", "\0", "é" * 300)


@pytest.mark.once
def test_every_address_of_the_api_has_a_row_for_each_of_its_methods_and_no_row_is_without_one() -> None:
    by_name = {address.name: set(address.methods) for address in addresses()}
    assert by_name == {name: set(rows) for name, rows in OPERATIONS.items()}
    # Nothing under /api/ is made without ``endpoint``, but for the page that shows the document.
    assert {name for name, route in patterns(get_resolver(), "") if route.startswith("api/")} == {
        *by_name,
        "api-docs",
    }


def patterns(resolver: URLResolver, before: str) -> Iterator[tuple[str, str]]:
    for each in resolver.url_patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLPattern):
            yield str(each.name), route
        else:
            yield from patterns(each, route)


@pytest.mark.once
def test_the_document_is_openapi() -> None:
    """By the parts of the specification that it uses: https://spec.openapis.org/oas/v3.1.0."""
    found = document()
    assert list(Draft202012Validator(OPENAPI).iter_errors(found)) == []
    for schema in [*found["components"]["schemas"].values(), *schemas_in(found["paths"])]:
        Draft202012Validator.check_schema(schema)
    text = orjson.dumps(found).decode()
    for reference in set(re.findall(r'"\$ref":"#/([^"]+)"', text)):
        place = found
        for key in reference.split("/"):
            place = place[key]
    ids = [row["operationId"] for row in rows_in(found)]
    assert len(ids) == len(set(ids))
    for path, item in found["paths"].items():
        named = [each["name"] for each in item.get("parameters", ())]
        assert re.findall(r"\{(\w+)\}", path) == named
    # A shape that no operation has is not in it.
    used = set(re.findall(r"#/components/schemas/(\w+)", text))
    assert used == set(found["components"]["schemas"])


def rows_in(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for item in found["paths"].values():
        yield from (row for method, row in item.items() if method != "parameters")


def schemas_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key == "schema":
                yield each
            else:
                yield from schemas_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from schemas_in(each)


def record(required: str, optional: str = "", /, **schemas: Any) -> dict[str, Any]:
    """An object of these fields alone; those without a schema may be anything."""
    names = [*required.split(), *optional.split()]
    return {
        "type": "object",
        "required": required.split(),
        "properties": {name: schemas.get(name, True) for name in names},
        "additionalProperties": False,
    }


def mapped(to: Any, names: str = "") -> dict[str, Any]:
    return {"type": "object", "additionalProperties": to} | (
        {"propertyNames": {"pattern": names}} if names else {}
    )


TEXT = {"type": "string", "minLength": 1}
REFERENCE = record("$ref")
PARAMETER = record("name in schema", "description required", name=TEXT) | {
    "oneOf": [
        {"properties": {"in": {"const": "query"}}},
        {"properties": {"in": {"const": "path"}, "required": {"const": True}}, "required": ["required"]},
    ]
}
CONTENT = mapped(record("schema"), r"^\w+/[\w.+-]+$") | {"minProperties": 1}
RESPONSE = record(
    "description", "headers content", description=TEXT, headers=mapped(record("schema")), content=CONTENT
)
ROW = record(
    "operationId summary tags responses",
    "parameters requestBody",
    operationId={"type": "string", "pattern": "^(get|post|patch|delete)-[a-z-]+$"},
    summary=TEXT,
    tags={"type": "array", "items": TEXT},
    parameters={"type": "array", "items": PARAMETER},
    requestBody=record("required content", required={"const": True}, content=CONTENT),
    responses=mapped({"anyOf": [REFERENCE, RESPONSE]}, r"^[1-5]\d\d$") | {"minProperties": 1},
)
ITEM = record("", "parameters get post patch delete", parameters={"type": "array", "items": PARAMETER}) | {
    "properties": {"parameters": {"type": "array", "items": PARAMETER}}
    | dict.fromkeys(("get", "post", "patch", "delete"), ROW)
}
OPENAPI = record(
    "openapi info servers security paths components",
    openapi={"const": "3.1.0"},
    info=record("title version", "summary", title=TEXT, version=TEXT),
    servers={"type": "array", "items": record("url")},
    security={"type": "array", "items": mapped({"type": "array"})},
    paths=mapped(ITEM, "^/"),
    components=record(
        "securitySchemes responses schemas",
        securitySchemes=mapped(record("type scheme", "description", type={"const": "http"})),
        responses=mapped(RESPONSE, r"^\w+$"),
        schemas=mapped({"type": "object"}, r"^\w+$"),
    ),
)  # fmt: skip


@pytest.fixture
def ids(
    transactional_db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    """Stored data of every kind; what is queued waits for nobody."""
    settings.VAR, settings.STORE_URL = tmp_path / "var", str(tmp_path / "store")
    for task in (
        uploading.run_import,
        starting.run_tasks.run,
        sweep_starting.run_sweep,
        remedies.run_search,
        proofs.run_proof,
    ):
        monkeypatch.setattr(task, "delay", lambda _: None)
    monkeypatch.setattr(watchers, "wake", lambda: None)
    monkeypatch.setattr(sweep_runs, "JOB", "tests.simulations.pretend_sweep")
    yield world()
    close_idle_children()


@pytest.mark.long
def test_every_answer_to_a_question_has_the_shape_that_is_declared_and_no_other_field(
    ids: dict[str, Any],
) -> None:
    client, wrong, asked_of = Client(), [], queries(ids)
    for asked in operations():
        if asked.method != "GET":
            continue
        for timeline in (ids["timeline_id"], ids["imported"], ids["live"]):
            given = ids | {
                "timeline_id": timeline,
                "sequence": 3 if timeline != ids["timeline_id"] else ids["sequence"],
            }
            for query in asked_of.get(asked.row["operationId"], [{}]):
                answer = client.get(asked.address(given), query)
                place = f"{asked} {timeline} {query}"
                media = answer["Content-Type"].partition(";")[0]
                if answer.status_code == 404 and "bytes" in asked.path:
                    continue  # no record
                if answer.status_code != 200 or media not in asked.row["responses"]["200"]["content"]:
                    wrong.append(f"{place}: {answer.status_code} {media} {answer.content[:200]!r}")
                elif media == JSON:
                    found = problems(answer_of(asked, 200), answer.json(), closed=True)
                    wrong += [f"{place}: {one}" for one in found[:3]]
            if "timeline_id" not in asked.path:
                break
    assert not wrong, "\n".join(wrong)


def body_of(asked: Asked) -> str:
    return pointer(asked, "requestBody", "content", JSON, "schema")


def answer_of(asked: Asked, status: int) -> str:
    return pointer(asked, "responses", str(status), "content", JSON, "schema")


class Tried:
    """Asks operations, and notes where the document is wrong: a status or a shape that is not declared, a wrong value that is taken."""

    def __init__(self) -> None:
        # A fault of the server's is an answer here, as it is to a client.
        self.client = Client(raise_request_exception=False)
        self.wrong: list[str] = []

    def ask(self, asked: Asked, address: str, note: str, **sent: Any) -> int:
        answer = self.client.generic(asked.method, address, **sent)
        status = answer.status_code
        if str(status) not in asked.row["responses"]:
            self.wrong.append(f"{asked} {note}: {status} {answer.content[:160]!r}")
        elif answer.content and answer["Content-Type"] == JSON:
            place = answer_of(asked, status) if status < 400 else "/components/schemas/ErrorAnswer"
            self.wrong += [f"{asked} {note}: {one}" for one in problems(place, answer.json())[:2]]
        return status

    def send(self, asked: Asked, address: str, note: str, body: Any, *, ignored: bool = False) -> int:
        """``ignored``: a field that another kind of body has, such as the limits of another kind of rule."""
        # Not orjson: it writes no number of more than 64 bits.
        status = self.ask(asked, address, note, data=json.dumps(body), content_type=JSON)
        if not ignored and status < 300 and (found := problems(body_of(asked), body)):
            self.wrong.append(f"{asked} {note}: taken, though {found[0]}")
        return status


@pytest.mark.long
def test_a_right_body_is_taken_and_no_wrong_value_brings_a_status_that_is_not_declared(
    ids: dict[str, Any],
) -> None:
    tried, given = Tried(), bodies(ids)
    for asked in operations():
        # No more may wait than the server takes.
        Timeline.objects.filter(source=Timeline.Source.SIMULATION).delete()
        name, address = asked.row["operationId"], asked.address(ids)
        for part in asked.item.get("parameters", ()):
            values = (9 * 10**18, 10**30) if part["schema"]["type"] == "integer" else ("nothing", "9" * 300)
            for value in values:
                other = asked.address(ids | {part["name"]: value})
                tried.ask(
                    asked,
                    other,
                    f"{part['name']}={value}",
                    data=json.dumps(given.get(name, {})),
                    content_type=JSON,
                )
        base = queries(ids).get(name, [{}])[0]
        for parameter in asked.row.get("parameters", ()):
            for value in WRONG_IN_ADDRESS:
                query = urlencode(base | {parameter["name"]: value})
                tried.ask(asked, address, f"{parameter['name']}={value!r:.40}", QUERY_STRING=query)
        if "requestBody" not in asked.row:
            continue
        right = given[name]
        assert problems(body_of(asked), right) == [], str(asked)
        if asked.method == "POST" and (status := tried.send(asked, address, "as it should be", right)) >= 300:
            tried.wrong.append(f"{asked} {right}: {status}")
        for content in (b"", b"[]", b"null", b"{", b'"x"', b"\xff", b"[" * 2_000, b'{"":{"\\u0000":1}}'):
            tried.ask(asked, address, repr(content[:20]), data=content, content_type=JSON)
        tried.ask(asked, address, "a form", data=b"a=b", content_type="application/x-www-form-urlencoded")
        schema = asked.row["requestBody"]["content"][JSON]["schema"]
        for field in sorted({*right, *schema.get("properties", {})}):
            for value in WRONG:
                tried.send(
                    asked,
                    address,
                    f"{field}={value!r:.40}",
                    right | {field: value},
                    ignored=field not in right,
                )
            tried.send(asked, address, f"without {field}", {key: right[key] for key in right if key != field})
    files = {"files": SimpleUploadedFile("notes.json", b"[]"), "session_timeout_ms": "x"}
    assert tried.client.post("/api/imports", files).status_code == 400
    assert not tried.wrong, "\n".join(tried.wrong)


@pytest.mark.long
def test_schemathesis_finds_no_fault_of_the_server_and_no_answer_that_is_not_declared(
    ids: dict[str, Any],
) -> None:
    """Right and wrong requests of each operation, about what is stored and about nothing; ``API_EXAMPLES`` is how many of each."""
    api = schemathesis.openapi.from_wsgi("/api/openapi.json", WSGIHandler())
    checks = [
        not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance,
    ]  # fmt: skip
    examples = int(os.environ.get("API_EXAMPLES", "0"))
    wrong: dict[str, str] = {}

    def ask(operation: Any) -> None:
        @hypothesis_settings(
            max_examples=examples or 4, derandomize=not examples, deadline=None, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate],
        )  # fmt: skip
        @given(strategies.one_of(*map(operation.as_strategy, GenerationMode)), strategies.booleans())
        def asked(case: Any, is_stored: bool) -> None:
            Timeline.objects.filter(source=Timeline.Source.SIMULATION).delete()
            if is_stored and case.method != "DELETE":
                case.path_parameters = {name: ids[name] for name in case.path_parameters or {}}
            try:
                case.validate_response(case.call(headers={"Accept-Encoding": "identity"}), checks=checks)
            except (Failure, FailureGroup) as failure:
                found = getattr(failure, "exceptions", [failure])
                for each in found:
                    wrong.setdefault(
                        f"{operation.label}: {each.title}", f"{case.as_curl_command():.600} {each!s:.500}"
                    )

        asked()

    for found in api.get_all_operations():
        ask(found.ok())
    assert not wrong, "\n\n".join(f"{place}\n{what}" for place, what in wrong.items())


@pytest.mark.django_db
def test_the_page_shows_every_operation_and_every_shape_without_a_script_of_its_own(client: Client) -> None:
    page = client.get("/api/docs").content.decode()
    assert [
        asked.row["operationId"] for asked in operations() if f'id="{asked.row["operationId"]}"' not in page
    ] == []
    assert [name for name in document()["components"]["schemas"] if f'id="shape-{name}"' not in page] == []
    for link in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{link}"' in page
    assert re.findall("<script", page) == re.findall("<script", client.get("/status").content.decode())
    answer = client.get("/api/openapi.json")
    assert answer.json() == document()
    assert client.get("/api/openapi.json", headers={"If-None-Match": answer["ETag"]}).status_code == 304
