"""Which release a recording is of: what its records and its request log show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from groups.releases import Bounds, RecordEvidence
from groups.releases.evidence import NEW_VERSION, TRANSACTION_FIELD, TRANSACTION_OLD_FIELD
from groups.texts.request_log import LoggedRequest
from simulations.proof.conformance.recording import Written

NEW_VERSIONS: Mapping[str, int] = {"TXN_OFFSET_COMMIT": 6, "DELETE_GROUPS": 3}
"""By API, the first version that only 4.4 and later serve."""

TRANSACTION = "TXN_OFFSET_COMMIT"


def bounds_of(requests: Iterable[LoggedRequest], written: Mapping[str, Iterable[Written]]) -> Bounds:
    """What a broker's request log and the records of its groups show of its release."""
    bounds = Bounds()
    for request in requests:
        if request.version >= NEW_VERSIONS.get(request.api, request.version + 1):
            bounds = bounds.with_seen(NEW_VERSION)
        if request.api == TRANSACTION:
            has_new = "generationIdOrMemberEpoch" in request.request
            bounds = bounds.with_seen(TRANSACTION_FIELD if has_new else TRANSACTION_OLD_FIELD)
    for records in written.values():
        evidence = RecordEvidence(bounds=bounds)
        for each in records:
            payload = each.payload
            if payload.get("key") is not None:
                evidence.record(payload["type"], payload["key"], payload["value"])
        bounds = evidence.end()
    return bounds
