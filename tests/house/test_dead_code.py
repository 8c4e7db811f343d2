"""Nothing in the product is there for tests alone, and nothing for nobody."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.house import ROOT

pytestmark = [pytest.mark.once, pytest.mark.long]

PRODUCT = ("explorer", "groups", "simulations")

CALLED_BY_OTHERS = {
    "Django": {"add_arguments", "handle", "ready", "Meta", "Command"},
    "Django, of a module by its name": {
        "AccountsConfig",
        "ExplorerConfig",
        "GroupsConfig",
        "SimulationsConfig",
        "handler400",
        "handler404",
        "handler500",
        "urlpatterns",
    },
    "Django's middleware": {"process_request"},
    "Django, of uploads": {"receive_data_chunk", "file_complete"},
    "Celery's bootsteps": {"include_if"},
    "Channels": {"disconnect"},
    "uvicorn": {"start_keepalive", "handle_ping"},
    "logging": {"emit"},
    "Django's admin": {"get_inlines"},
    "Django's views of forms": {"form_invalid"},
    "mozilla-django-oidc": {"get_or_create_user", "login_failure", "login_success", "verify_token"},
    "whitenoise": {"add_file_to_dictionary", "serve"},
    "urllib": {"redirect_request"},
    "pytest": {"pytest_addoption"},
    "html.parser": {"handle_starttag", "handle_endtag", "handle_data"},
    "ASGI: the body of a request that the gate holds back": {"read_body"},
    "Spark's sources": {
        *("initialOffset", "latestOffset", "prepareForTriggerAvailableNow", "streamReader", "streamWriter"),
    },
    "the registry of findings, by the module": {"FINDER"},
}
"""Who calls it by a name that no code of ours reads."""

BOTH_WAYS = {"unapply", "decode_request", "decode_kip_record", "encode_control"}
"""The other way of what the product does; a property holds both."""

CLIENT = {"commit_sync", "expire_poll"}
"""What an application can do with Kafka's consumer, and no verb of a scenario does yet."""

EXCEPTIONS = {*BOTH_WAYS, *CLIENT, *(name for names in CALLED_BY_OTHERS.values() for name in names)}


def trees() -> Iterator[tuple[str, ast.Module]]:
    for room in PRODUCT:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def defined(tree: ast.Module) -> Iterator[str]:
    """Functions, classes, methods and constants of a module; what has a decorator is registered by it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            kept = {
                "property",
                "staticmethod",
                "classmethod",
                "dataclass",
                "override",
                "contextmanager",
                "cache",
            }
            decorators = {re.sub(r"\(.*", "", ast.unparse(each), flags=re.S) for each in node.decorator_list}
            if {name.rpartition(".")[2] for name in decorators} <= kept | {"lru_cache"}:
                yield node.name
    for node in tree.body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def read(tree: ast.Module) -> Iterator[str]:
    """Names that the code reads, and dotted names in strings, by which settings name a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"[\w.:]*[.:]\w+", node.value)
        ):
            yield re.split("[.:]", node.value)[-1]


def test_every_name_that_the_product_defines_is_read_by_the_product() -> None:
    where: dict[str, set[str]] = defaultdict(set)
    known: set[str] = set()
    for path, tree in trees():
        # Settings are read by Django, and what Kafka's files hold is made of them.
        if path != "explorer/settings.py" and "/generated/" not in path:
            for name in defined(tree):
                where[name].add(path)
        known.update(read(tree))
    dead = {name for name in where if name not in known and not name.startswith("__")}
    assert {name: sorted(where[name]) for name in dead - EXCEPTIONS} == {}


def test_no_exception_is_left_over() -> None:
    names = {name for _, tree in trees() for name in defined(tree)}
    assert EXCEPTIONS - names == set()
