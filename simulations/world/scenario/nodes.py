"""Reads YAML with its line numbers, so that each mistake can say where it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, TypeVar

import yaml

from simulations.world.scenario.errors import ScenarioError, nearest

T = TypeVar("T")
U = TypeVar("U")

TEXT_MAX: Final = 1_000_000
"""Characters of a scenario's text: parsing takes about a second a megabyte, and it may come from a form."""

DEPTH_MAX: Final = 16
"""Levels of lists and mappings: twice what a scenario has. The parser's time grows with their square."""

# Digits are bounded, so that no number is too large to be shown.
_DURATION: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(ms|s|m|h)")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{0,15})?")
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}

DIGITS_MAX: Final = 25
"""Of a whole number: beyond every bound already, and far below what Python refuses to convert."""

_TEXTS: Final = {
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:int": "a whole number",
    "tag:yaml.org,2002:float": "a number with a point",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:map": "a mapping",
    "tag:yaml.org,2002:seq": "a list",
}


# The parser of libyaml is some twenty times as fast; it is missing where PyYAML was built without it.
_LOADER: Final[type[yaml.SafeLoader]] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str, what: str = "scenario", needs: str = "topics, members and a script") -> Node:
    """The document's root, a mapping; ``ScenarioError`` with the line of a syntax error.

    ``what`` the document is, and what it ``needs`` at least, for the messages.
    """
    if len(text) > TEXT_MAX:
        raise ScenarioError(1, "", f"a {what} has at most {TEXT_MAX} characters, this has {len(text)}")
    try:
        _look_over(text)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(str(error.problem or error.context or "not YAML").split())
        # What is missing at the end is missing on the last line, not on one after it.
        line = min(mark.line, text.count("\n")) + 1 if mark else 1
        raise ScenarioError(line, "", f"this is not YAML: {problem}") from None
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise ScenarioError(1, "", f"this is not YAML: {problem}") from None
    if root is None:
        raise ScenarioError(1, "", f"the {what} is empty; it needs {needs}")
    node = Node(yaml_node=root, field="")
    if not isinstance(root, yaml.MappingNode):
        raise node.wrong(f"a {what} is a mapping with {needs}", of_root=True)
    return node


def _look_over(text: str) -> None:
    """Refuses what would cost far more than its length, before any of it is built."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            # A few lines of aliases can stand for more nodes than memory holds.
            raise ScenarioError(line, "", "anchors and aliases (& and *) are not taken; write the part out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH_MAX:
                raise ScenarioError(line, "", f"nested more than {DEPTH_MAX} deep; no scenario needs that")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A YAML node and its path in the document."""

    yaml_node: yaml.Node
    field: str

    @property
    def line(self) -> int:
        return int(self.yaml_node.start_mark.line) + 1

    @property
    def kind(self) -> str:
        return _TEXTS.get(self.yaml_node.tag, "something else")

    def wrong(self, message: str, *, of_root: bool = False) -> ScenarioError:
        return ScenarioError(self.line, "" if of_root else self.field, message)

    def expected(self, what: str) -> ScenarioError:
        shown = f"{self.yaml_node.value!r}" if isinstance(self.yaml_node, yaml.ScalarNode) else self.kind
        return self.wrong(f"expected {what}, found {shown}")

    def mapping(
        self, known: Collection[str] | None = None, *, needs: Collection[str] = (), what: str = ""
    ) -> Keys:
        """Key → node, in order. Keys outside ``known`` are refused with the nearest that there is.

        ``what`` the mapping is (such as "a step"), and the keys that it ``needs``, for the message where one is missing.
        """
        if not isinstance(self.yaml_node, yaml.MappingNode):
            raise self.expected("a mapping (key: value)")
        found = Keys()
        for key_node, value_node in self.yaml_node.value:
            key = Node(yaml_node=key_node, field=self.field)
            if not isinstance(key_node, yaml.ScalarNode):
                raise key.expected("a plain key")
            name = str(key_node.value)
            # It is shown in terminals, and a key may be anything.
            shown = name if name.isprintable() else ascii(name)[1:-1]
            path = f"{self.field}.{shown}" if self.field else shown
            if known is not None and name not in known:
                raise ScenarioError(key.line, path, f"unknown key; {nearest(name, known)}")
            if name in found:
                raise ScenarioError(key.line, path, "this key stands twice")
            found[name] = Node(yaml_node=value_node, field=path)
        for needed in needs:
            if needed not in found:
                raise ScenarioError(self.line, self.field or needed, f"{what} needs {needed}")
        return found

    def items(self) -> list[Node]:
        if not isinstance(self.yaml_node, yaml.SequenceNode):
            raise self.expected("a list")
        return [
            Node(yaml_node=item, field=f"{self.field}[{index}]")
            for index, item in enumerate(self.yaml_node.value)
        ]

    def each(self) -> list[Node]:
        """The items of a list; a node that is none is the only item."""
        return self.items() if self.kind == "a list" else [self]

    def text(self, *, blank: bool = False) -> str:
        """Text, or a number as it is written: topic and member names may look like numbers."""
        if not isinstance(self.yaml_node, yaml.ScalarNode) or self.yaml_node.tag.endswith((":null", ":bool")):
            raise self.expected("text")
        value = str(self.yaml_node.value)
        if not (blank or value.strip()):
            raise self.expected("text that is not blank")
        return value

    def integer(self, least: int, most: int, why: str = "") -> int:
        if not isinstance(self.yaml_node, yaml.ScalarNode) or not self.yaml_node.tag.endswith(":int"):
            raise self.expected("a whole number")
        try:
            number = int(str(self.yaml_node.value).replace("_", "")[:DIGITS_MAX])
        except ValueError:
            raise self.expected("a whole number") from None
        if not least <= number <= most:
            because = f" ({why})" if why else ""
            bounds = f"{least}" if least == most else f"{least} to {most}"
            raise self.wrong(f"must be {bounds}{because}, is {number}")
        return number

    def number(self, least: float, most: float) -> float:
        """A number, with or without a point."""
        if not isinstance(self.yaml_node, yaml.ScalarNode) or not _NUMBER.fullmatch(
            str(self.yaml_node.value)
        ):
            raise self.expected("a number")
        number = float(self.yaml_node.value)
        if not least <= number <= most:
            raise self.wrong(f"must be {least:g} to {most:g}, is {self.yaml_node.value}")
        return number

    def yes(self) -> bool:
        """``true`` or ``false``."""
        if not isinstance(self.yaml_node, yaml.ScalarNode) or self.yaml_node.value not in ("true", "false"):
            raise self.expected("true or false")
        return bool(self.yaml_node.value == "true")

    def duration_ms(self, most: int, *, signed: bool = False) -> int:
        """``12s``, ``1.5s``, ``500ms``, ``2m``, ``1h``, or plain 0; with ``signed`` also ``-5s``."""
        value = str(self.yaml_node.value) if isinstance(self.yaml_node, yaml.ScalarNode) else ""
        if value == "0":
            return 0
        match = _DURATION.fullmatch(value.removeprefix("-") if signed else value)
        if match is None:
            raise self.expected("a duration with its unit, such as 12s, 1.5s, 500ms or 2m")
        length = round(float(match[1]) * _UNITS_MS[match[2]])
        if length > most:
            raise self.wrong(f"at most {most // 1000} s, is {value}")
        return -length if value.startswith("-") else length

    def choice(self, known: Collection[str], what: str) -> str:
        value = self.text()
        if value not in known:
            raise self.wrong(f"unknown {what} {value}; {nearest(value, known)}")
        return value

    def choices(self, known: Collection[str], what: str) -> tuple[str, ...]:
        """A list of choices, of which none is there twice."""
        chosen: list[str] = []
        for item in self.items():
            name = item.choice(known, what)
            if name in chosen:
                raise item.wrong(f"{name} stands twice")
            chosen.append(name)
        return tuple(chosen)


class Keys(dict[str, Node]):
    """The keys of a mapping, and readers of those that may be missing."""

    def read(self, key: str, read: Callable[[Node], T], usual: U) -> T | U:
        return read(self[key]) if key in self else usual

    def text(self, key: str, usual: U) -> str | U:
        return self.read(key, Node.text, usual)

    def yes(self, key: str, *, usual: bool = False) -> bool:
        return self.read(key, Node.yes, usual)

    def integer(self, key: str, least: int, most: int, usual: U) -> int | U:
        return self.read(key, lambda node: node.integer(least, most), usual)
