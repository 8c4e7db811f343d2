"""What a seeded mistake is: a text of a file of the simulator, and what stands there instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    name: str
    file: str
    old: str
    new: str
    breaks: str
    """What is wrong from then on, in words."""


def mutation(name: str, file: str, old: str, new: str, breaks: str) -> Mutation:
    return Mutation(name=name, file=file, old=old, new=new, breaks=breaks)
