"""Answers as an older version of their API has them: without the fields that came later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from simulations.proof.conformance.recording import Fields

SINCE: Final[Mapping[str, Mapping[str, int]]] = {
    "JOIN_GROUP": {"groupInstanceId": 5, "protocolType": 7, "skipAssignment": 9},
    "SYNC_GROUP": {"protocolType": 5, "protocolName": 5},
    "DESCRIBE_GROUPS": {"authorizedOperations": 3, "groupInstanceId": 4, "errorMessage": 6},
    "OFFSET_FETCH": {"committedLeaderEpoch": 5, "groupId": 8},
}
"""By API the version from which on an answer has a field (Kafka's ``*Response.json``)."""


def of_version(api: str, version: int, answer: Fields) -> Fields:
    """The answer as that version has it; the same object where nothing is younger."""
    lacking = {name for name, since in SINCE.get(api, {}).items() if version < since}
    if not lacking:
        return answer
    return _without(answer, lacking)


def _without(answer: Fields, lacking: set[str]) -> Fields:
    return {name: _inside(value, lacking) for name, value in answer.items() if name not in lacking}


def _inside(value: object, lacking: set[str]) -> object:
    if isinstance(value, Mapping):
        return _without(value, lacking)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_inside(each, lacking) for each in value]
    return value
