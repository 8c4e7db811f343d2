"""The docs' tables of the differences, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from simulations.proof.differences.table import Difference


def markdown(differences: Iterable[Difference]) -> str:
    """Two tables: what the two do differently, and what ``kip`` follows where the proposal has two rules."""
    known = tuple(differences)
    # Where the proposal has two rules and ``kip`` does what the release does, the second table has it.
    apart = [each for each in known if each.case is not None or each.reading is None]
    read = [each for each in known if each.reading is not None]
    lines = [
        "| what | `kip` | `kafka` | case |",
        "|---|---|---|---|",
        *(
            f"| {each.topic} | {each.reading or each.proposal} | {each.released} | {_case(each)} |"
            for each in apart
        ),
        "",
        "Where the proposal's text says two things, or nothing:",
        "",
        "| what | the text | `kip` follows | case |",
        "|---|---|---|---|",
        *(
            f"| {each.topic} ({each.section}) | {each.proposal} | {each.reading} | {_case(each)} |"
            for each in read
        ),
    ]
    return "\n".join(lines)


def _case(difference: Difference) -> str:
    if difference.studies:
        return ", ".join(f"`{study}`" for study in difference.studies)
    plays = difference.case is not None or difference.scenario is not None
    return f"`{difference.id}`" if plays else f"none: {difference.unshown}"
