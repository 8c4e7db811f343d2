"""Bytes with one field changed: lengths and counts of everything around it are made again.

A path names the field as the listing does, ``members.0.subscription.ownedPartitions.0.partitions``, through blobs
that are opened in place. What newer versions appended stays behind the fields that are known. A changed ``version``
drops the fields that it does not have, and gives those that are new Kafka's defaults.
"""

from __future__ import annotations

import re

from groups.wire.codecs.primitives import from_base64, to_base64
from groups.wire.codecs.schema import UNKNOWN_TAGS, Array, Field, FieldType, Form, Required, Struct
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import RecordError, UnencodableError
from groups.wire.inspection.inspecting import inspect
from groups.wire.inspection.kinds import kind_named
from groups.wire.inspection.layouts import Layout
from groups.wire.inspection.nodes import REST, TAG_COUNT, UNKNOWN_TAG, Node


def edit(name: str, version: int | None, data: bytes, path: str, value: Value) -> bytes:
    """The bytes of ``data``, a kind called ``name``, with ``value`` at ``path``; ``RecordError`` names the path.

    ``value`` is in JSON form. Text is taken for a number, and words with spaces or commas between them for a list,
    where the field is one: a page and a command line have text alone.
    """
    layout = kind_named(name).layout
    listed = inspect(name, data, version=version)
    if listed.problem is not None:
        raise UnencodableError(f"bytes that cannot be read are not edited ({listed.problem})")
    written, tree, end = layout.read(data, version)
    rest = data[end:]
    first, *others = path.split(".")
    if first == layout.leading_name:
        number = _typed("int16", value)
        if others or not isinstance(number, int) or isinstance(number, bool):
            raise UnencodableError(f"{path}: {value!r:.60} is not an int16")
        tree = _at_version(layout, tree, number)
        # What a newer version appended means nothing in one that is known.
        rest = rest if layout.versions and min(written or 0, number) > layout.versions[-1] else b""
    else:
        _set(tree, listed.fields, path.split("."), value)
    return layout.write(tree, written) + rest


def _set(tree: Value, nodes: list[Node], path: list[str], value: Value) -> None:
    """Sets one value in what the codec read; ``nodes`` say what is opened where."""
    name, *deeper = path
    node = next((node for node in nodes if node.name == name), None)
    try:
        if name in (TAG_COUNT, REST):
            raise UnencodableError("it follows from the other fields, and is not edited itself")
        if name.startswith(UNKNOWN_TAG) and node is not None:
            _set_unknown_tag(tree, node, value)
            return
        place = _place(tree, name, node)
        if deeper and isinstance(tree, dict) and place not in tree:
            # A batch of a segment, and a tagged field at its default.
            raise UnencodableError("what is in it is not edited from here")
        if not deeper:
            tree[place] = value if node is None else _typed(node.type, value)
        elif node is not None and node.kind is not None:
            inner = edit(node.kind, None, from_base64(tree[place]), ".".join(deeper), value)
            tree[place] = to_base64(inner)
        else:
            _set(tree[place], (node.fields if node else None) or [], deeper, value)
    except RecordError as error:
        error.inside(name)
        raise


def _place(tree: Value, name: str, node: Node | None) -> Value:
    """The index or the name to set in ``tree``; a field that is not there may be a tagged one at its default."""
    if isinstance(tree, list):
        if re.fullmatch(r"[0-9]{1,9}", name) and int(name) < len(tree):
            return int(name)
        raise UnencodableError(f"there is no such element; the list has {len(tree)}")
    if isinstance(tree, dict) and (node is not None or re.fullmatch(r"[A-Za-z]+", name)):
        return name
    raise UnencodableError("there is no such field")


def _set_unknown_tag(tree: Value, node: Node, value: Value) -> None:
    same = [each for each in tree.get(UNKNOWN_TAGS, ()) if each["tag"] == node.tag]
    if len(same) != 1:
        raise UnencodableError("the tag stands there more than once, and is not edited")
    same[0]["data"] = to_base64(from_base64(value))


def _typed(type_: str, value: Value) -> Value:
    """Text as the field's type has it; anything else is left for the codec to judge."""
    if not isinstance(value, str):
        return value
    bare = type_.removesuffix("?")
    text = value.strip()
    if bare.startswith(("int", "uint")):
        return int(text) if re.fullmatch(r"-?\d{1,20}", text) else value
    if bare == "bool":
        return {"true": True, "false": False}.get(text, value)
    if bare.startswith("array ") and " " not in bare.removeprefix("array "):
        return [_typed(bare.removeprefix("array "), word) for word in re.split(r"[\s,]+", text) if word]
    return value


def _at_version(layout: Layout, tree: Fields, number: int) -> Fields:
    body, form = layout.body_at(number)
    assert layout.leading_name is not None
    return {**_fitted(body, tree, form), layout.leading_name: number}


def _fitted(body: Struct, value: Value, form: Form) -> Fields:
    """The struct with the fields of that version: what it lacks dropped, what is new at its default."""
    out: Fields = {}
    for field in body.in_version(form.version):
        if field.name in value:
            out[field.name] = _fitted_value(field.type, value[field.name], form)
            if out[field.name] is None and not field.is_nullable_in(form.version):
                out[field.name] = _default(field, form)
        else:
            out[field.name] = _default(field, form)
    for field in body.tagged_in_version(form.version):
        if field.name in value:
            out[field.name] = _fitted_value(field.type, value[field.name], form)
    if form.flexible and UNKNOWN_TAGS in value:
        out[UNKNOWN_TAGS] = value[UNKNOWN_TAGS]
    return out


def _fitted_value(type_: FieldType, value: Value, form: Form) -> Value:
    match type_:
        case Struct() if isinstance(value, dict):
            return _fitted(type_, value, form)
        case Array(of=of) if isinstance(value, list):
            return [_fitted_value(of, each, form) for each in value]
        case _:
            return value


def _default(field: Field, form: Form) -> Value:
    if field.default is not Required.REQUIRED and (
        field.default is not None or field.is_nullable_in(form.version)
    ):
        return list(field.default) if isinstance(field.default, tuple) else field.default
    if field.is_nullable_in(form.version):
        return None
    match field.type:
        case Struct():
            return _fitted(field.type, {}, form)
        case Array():
            return []
        case primitive:
            return primitive.zero
