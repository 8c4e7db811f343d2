"""What a user reads speaks Kafka's words: each text is understood at once, and no thing has two names.

Looked at are templates, the strings of the browser's modules, the documentation, the help of commands and the stories of
case studies. Names of code (in backticks, in attributes) are the code's own affair.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml
from django.core.management import load_command_class

from explorer.command_line import COMMANDS
from tests.house import ROOT

INSTEAD: Final[dict[str, str]] = {
    r"\bgiv(e|es|ing|en)( \w+){0,2} up\b": "revoke, revoking, revoked",
    r"\bNo gap\b": "Converged: every member owns its target",
    r"\bNo owner\b(?!s)|\bhad no owner\b|\bnobody reads\b": "Unassigned",
    r"\bmeant for (it|him|her|B|C|A)\b": "target owner",
    r"\bshould own\b": "target owner",
    r"\badvances\b": "moves to member epoch n",
    r"\bknows nothing\b": "no assignment received yet",
    r"\bNot told( of epoch)?\b|\b(has|have|had) not heard of\b|\bheard of the change\b": "has not received epoch n yet",
    r"\bLearns it\b": "receives it in its next heartbeat response",
    r"\b(has|had|have) let go\b|\bto let go\b": "confirms the revocation",
    r"\bNobody is there\b": "process killed; session still open",
    r"\bDoes not belong here\b": "fenced: no longer a member",
    r"\band does not know\b": "the client has not been notified (zombie)",
    r"\b(stands?|stood|standing) still\b": "paused",
    r"\b[Tt]akes? the place of\b|\btook the place of\b": "2nd process, same group.instance.id",
    r"\bof the tale\b": "Narration, step n",
    r"\bAs range left it\b|\bIts own answer\b|\bAs it stood\b": "Previous assignment: by range, by each assignor",
    r"\bdarker the more\b|\bthe darker\b": "heat map: a darker square is a higher value",
    r"\bNothing is in yet\b": "No results yet",
    r"\b(every|each) interleaving\b": "model checking; every order of events",
    r"(?<!the )(?<!of the )\b[Ww]orlds?\b(?! is)": "state; surroundings",
    r"\bcomes? to rest\b": "reaches a stable state",
    r"\bhandles it roughly\b": "with faults",
    r"\b(leaves it|is left) alone\b": "without faults",
}
"""What is not said, as an expression, and what is said instead."""

MADE: Final = ("docs/reference/conformance.md", "docs/reference/invariants.md", "docs/reference/metrics.md")
"""Pages whose words come with the code's names."""

ALLOWED: Final = (
    ("docs/reference/entries-and-frames.md", "had no owner"),
    ("docs/reference/entries-and-frames.md", "took the place"),
    ("docs/reference/entries-and-frames.md", "give up"),
)
"""Text of findings that the fold writes: it changes with the fold's version."""


def template_text(text: str) -> str:
    """What a page says: no template code, no tags; of attributes those that are read out."""
    text = re.sub(
        r"\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}|<!--.*?-->|<code>.*?</code>",
        " ",
        text,
        flags=re.DOTALL,
    )
    read_out = re.findall(r'(?:title|aria-label|placeholder)="([^"]*)"', text)
    return "\n".join([re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", text, flags=re.DOTALL), *read_out])


def strings_of(text: str) -> str:
    """The string literals of a module, one a line; comments are for who works on it."""
    text = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", " ", text, flags=re.DOTALL)
    found = re.findall(r"'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|\"((?:[^\"\\\n]|\\.)*)\"", text)
    # A word alone is a key, a class or a name of the code.
    return "\n".join(said for one in found for said in one if " " in said)


def prose(text: str) -> str:
    """A page of Markdown without code."""
    return re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", " ", text, flags=re.DOTALL)


def help_of(name: str) -> str:
    app = next(app for app in ("explorer", "groups", "simulations")
               if (ROOT / app / "management" / "commands" / f"{name}.py").exists())  # fmt: skip
    parser = load_command_class(app, name).create_parser("rebalance-explorer", name)
    verbs = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    parts = [parser.format_help(), *(verb.format_help() for each in verbs for verb in each.choices.values())]
    return re.sub(r"\s+", " ", " ".join(parts))


def story(text: str) -> str:
    """What a case study says: its name, its summary and its steps."""
    told = yaml.safe_load(text)
    steps = [str(step.get("says", "")) for step in told.get("steps") or ()]
    return "\n".join([told["name"], str(told.get("summary", "")), *steps])


def lesson(text: str) -> str:
    """What a lesson says, without its scenario and the references in it."""
    told = {key: part for key, part in yaml.safe_load(text).items() if key not in ("scenario", "case")}
    return re.sub(r"\{[^{}]*\}|`[^`]*`", " ", "\n".join(strings_in(told)))


def strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings_in(part)


def texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        yield path.relative_to(ROOT).as_posix(), template_text(path.read_text())
    for path in sorted((ROOT / "static" / "js").rglob("*.js")):
        yield path.relative_to(ROOT).as_posix(), strings_of(path.read_text())
    for path in sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]):
        name = path.relative_to(ROOT).as_posix()
        if name not in MADE:
            yield name, prose(path.read_text())
    for path in sorted((ROOT / "simulations" / "world" / "studies").glob("*.yaml")):
        yield path.relative_to(ROOT).as_posix(), story(path.read_text())
    for path in sorted((ROOT / "simulations" / "courses").glob("*.yaml")):
        yield path.relative_to(ROOT).as_posix(), lesson(path.read_text())
    for commands in COMMANDS.values():
        for name, line in commands.items():
            yield f"help {name}", f"{line}\n{help_of(name)}"


TEXTS: Final = list(texts())


@pytest.mark.parametrize(("place", "text"), TEXTS, ids=[place for place, _ in TEXTS])
def test_a_text_uses_the_fields_words(place: str, text: str) -> None:
    found = [
        f"{hit[0]!r}: say {instead!r} ({text[max(0, hit.start() - 40) : hit.end() + 30]!r})"
        for said, instead in INSTEAD.items()
        for hit in re.finditer(said, text)
    ]
    allowed = [words for where, words in ALLOWED if where == place]
    assert [one for one in found if not any(words in one for words in allowed)] == []


def test_every_word_that_is_not_said_would_be_found() -> None:
    """An expression that matches nothing guards nothing."""
    samples = (
        "giving up foo-2", "No gap", "No owner", "meant for it", "should own", "B advances", "Joined, knows nothing yet",
        "Not told of epoch 3", "Learns it", "has let go", "Nobody is there", "Does not belong here any more",
        "Out, and does not know", "stood still", "took the place of A", "Row 9 of the tale", "As range left it",
        "the darker the more", "Nothing is in yet", "Every interleaving".lower(), "a world of one form", "come to rest",
        "handles it roughly", "is left alone",
    )  # fmt: skip
    for said in INSTEAD:
        assert any(re.search(said, sample) for sample in samples), said


def test_strings_are_found_and_comments_are_not() -> None:
    module = "// it stands still\n/* no owner */ const a = 'stands still now'; const b = `gives ${x} up`;"
    assert strings_of(module).splitlines() == ["stands still now", "gives ${x} up"]
    assert Path(ROOT / "templates").is_dir()
