"""Sentences of what is no record: answers, callbacks, faults and notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from groups.history.entries import Entry, Kind, Payload, Provenance
from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.steps import Step
from groups.history.replay.commit_runs import run_of
from groups.history.replay.fields import mapping, text
from groups.history.replay.joining import MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS
from groups.history.replay.volatile import FENCES, sent_assignment
from groups.history.state.consumption import READS
from groups.history.state.group import UNREADABLE, State
from groups.history.story.joining import (
    CLASSIC_APIS,
    arrival_sentence,
    handover_sentence,
    leave_sentence,
    observation_sentence,
    response_sentence,
)
from groups.history.story.sentences import COORDINATOR, Sentence, in_words
from groups.history.story.transactions import ended_words, transaction_words
from groups.history.words import Partition, counted, duration, partitions

FAULT_WORDS: Final[Mapping[str, str]] = {
    "kill": "is killed",
    "pause": "is paused",
    "resume": "runs again",
    "cut": "is cut off",
    "heal": "can be reached again",
}

REFUSALS: Final[Mapping[int, str]] = {
    14: "is asked to wait: the coordinator is still loading ({error})",
    16: "has asked a broker that is not the coordinator ({error})",
    25: "is fenced: it is no longer a member ({error}) and has to rejoin",
    82: "is fenced: another member has its instance id ({error})",
    110: "is fenced: its epoch is not the coordinator's ({error}); it abandons its partitions and rejoins",
    111: "is refused: the instance id is still another's ({error})",
    113: "is refused: its epoch is not the coordinator's ({error})",
}
"""What answers mean to their receiver; Kafka's name in brackets."""

UNSUPPORTED_VERSION: Final = 35

NOT_SERVED: Final = "is refused: the broker does not serve the consumer protocol ({error})"
"""What UNSUPPORTED_VERSION means to a sender of heartbeats of the consumer protocol."""

JOIN_AGAIN: Final = (REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED)
"""Answers of the classic protocol that a member follows by another JoinGroup."""

MESSAGES: Final[Mapping[str, str]] = {
    "ConsumerGroupHeartbeat": "heartbeat",
    "OffsetCommit": "commit",
    "TxnOffsetCommit": "commit in a transaction",
    "OffsetFetch": "look-up of its offsets",
    "FindCoordinator": "search for the coordinator",
}
"""What requests are called that are lost on the way."""

CONFIGS: Final[Mapping[str, str]] = {
    "session_timeout_ms": "its session timeout",
    "heartbeat_interval_ms": "its heartbeat interval",
    "assignment_interval_ms": "its assignment interval",
}
"""What may be set for one group."""

ANSWER: Final = re.compile(r"answer to \w+ of (?P<member>\S+) \(line \d+\): (?P<field>.+)")
"""How a difference between answers is called by ``conform``."""

METADATA_LOG: Final = "metadata log"
"""The source of a ``topics`` note that shows when topics came and went."""

ERROR_NAMES: Final[Mapping[int, str]] = {
    -1: "UNKNOWN_SERVER_ERROR",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    22: "ILLEGAL_GENERATION",
    23: "INCONSISTENT_GROUP_PROTOCOL",
    24: "INVALID_GROUP_ID",
    25: "UNKNOWN_MEMBER_ID",
    27: "REBALANCE_IN_PROGRESS",
    29: "TOPIC_AUTHORIZATION_FAILED",
    30: "GROUP_AUTHORIZATION_FAILED",
    35: "UNSUPPORTED_VERSION",
    42: "INVALID_REQUEST",
    68: "NON_EMPTY_GROUP",
    69: "GROUP_ID_NOT_FOUND",
    79: "MEMBER_ID_REQUIRED",
    81: "GROUP_MAX_SIZE_REACHED",
    82: "FENCED_INSTANCE_ID",
    110: "FENCED_MEMBER_EPOCH",
    111: "UNRELEASED_INSTANCE_ID",
    112: "UNSUPPORTED_ASSIGNOR",
    113: "STALE_MEMBER_EPOCH",
    128: "INVALID_REGULAR_EXPRESSION",
}
"""Kafka's names (``Errors``) of the codes that a group's requests are answered with."""


def _response_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    """An answer has a sentence of its own if no record has one: an error, or partitions to give up (KIP-848)."""
    body, member_id = mapping(entry.payload.get("body")), text(entry.payload.get("to"))
    if member_id is None:
        return None
    if step.after.classic.barrier is not None and entry.payload.get("api") in CLASSIC_APIS:
        return response_sentence(step, entry, cast)
    if body.get("errorCode"):
        code = body["errorCode"]
        if code in JOIN_AGAIN and entry.payload.get("api") in CLASSIC_APIS:
            # A classic member of a converted group: it is not turned away, but asked for its next step.
            return response_sentence(step, entry, cast)
        error = ERROR_NAMES.get(code, f"error {code}") if isinstance(code, int) else str(code)
        is_heartbeat = entry.payload.get("api") == "ConsumerGroupHeartbeat"
        known_as = REFUSALS.get(code) if isinstance(code, int) else None
        if code == UNSUPPORTED_VERSION and is_heartbeat:
            known_as = NOT_SERVED
        words = (known_as or "is refused: {error}").format(error=error)
        fenced = code in FENCES and is_heartbeat
        return Sentence("fence" if fenced else "fault", member_id, f"{cast.name(member_id)} {words}")
    if body.get("shouldComputeAssignment"):
        return Sentence("note", member_id, f"{cast.name(member_id)} is asked to compute the assignment")
    client = (step.after.clients or {}).get(member_id)
    member = step.after.consumer.members.get(member_id)
    if client is None or member is None or sent_assignment(step.after, body) is None:
        return None
    before = (step.before.clients or {}).get(member_id)
    known = before.revoking if before is not None else {}
    given = {
        (name, partition)
        for name, numbers in client.revoking.items()
        for partition in numbers
        if partition not in known.get(name, ())
        and partition not in member.pending_revocation.get(step.after.topic_id(name) or name, ())
    }
    if not given:
        return None
    return Sentence(
        "revoke", member_id, f"{cast.name(member_id)} is asked to revoke {in_words(step.after, given)}"
    )


def _request_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    """A request is shown by its effects, except for the one that brings an assignment."""
    if step.after.classic.barrier is not None and entry.payload.get("api") in CLASSIC_APIS:
        return arrival_sentence(step, entry, cast)
    if step.after.classic.gone is not step.before.classic.gone:
        return leave_sentence(entry, cast)
    if entry.payload.get("api") != "ConsumerGroupInstallAssignment":
        return None
    return Sentence("note", entry.actor, f"{cast.name(entry.actor)} installs the assignment that it computed")


def still_had(step: Step, entry: Entry) -> dict[str, list[Partition]]:
    """Other clients that own partitions with which the actor begins by this callback: they do not know yet."""
    payload = entry.payload
    begins = payload.get("callback") == "on_partitions_assigned" and payload.get("phase") == "start"
    if entry.kind is not Kind.CALLBACK or not begins:
        return {}
    taken = [
        (str(name), int(number))
        for name, numbers in mapping(payload.get("partitions")).items()
        for number in numbers
    ]
    if not taken:
        return {}
    both: dict[str, list[Partition]] = {}
    for member_id, client in (step.before.clients or {}).items():
        if member_id == entry.actor:
            continue
        owned = [key for key in taken if key[1] in client.owned.get(key[0], ())]
        if owned:
            both[member_id] = owned
    return both


def overlap_words(who: str, had: Iterable[tuple[str, Iterable[Partition]]], *, over: bool = False) -> str:
    """``B begins with foo-1 while A still has it``; ``over``: ``B began with foo-1 while A still had it``."""
    parts = []
    for name, owned in had:
        both = list(owned)
        has = "had" if over else "has"
        parts.append(f"{partitions(both)} while {name} still {has} {'it' if len(both) == 1 else 'them'}")
    return f"{who} {'began' if over else 'begins'} with {'; '.join(parts)}"


def _callback_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    """Losing partitions is worth a sentence, and owning what another one has; the rest follows from earlier sentences."""
    if any(anomaly.kind == UNREADABLE for anomaly in step.anomalies):
        return None
    both = still_had(step, entry)
    if both:
        had = [(cast.name(member_id), owned) for member_id, owned in both.items()]
        return Sentence("fault", entry.actor, overlap_words(cast.name(entry.actor), had))
    if step.after.classic.barrier is not None and entry.payload.get("callback") != "on_partitions_lost":
        return handover_sentence(entry, cast)
    if entry.payload.get("callback") != "on_partitions_lost" or entry.payload.get("phase") != "start":
        return None
    before = (step.before.clients or {}).get(entry.actor)
    lost = [(name, p) for name, ps in before.owned.items() for p in ps] if before is not None else []
    if not lost:
        return None
    return Sentence("fault", entry.actor, f"{cast.name(entry.actor)} loses {partitions(lost)}")


def _fault_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    fault, member_id = str(entry.payload.get("fault")), text(entry.payload.get("member"))
    if fault == "fail_over":
        return Sentence("fail_over", COORDINATOR, _fail_over_words(entry.payload))
    if fault == "lost_batch":
        return Sentence("fault", COORDINATOR, _lost_words(entry.payload))
    if fault == "difference":
        return Sentence("fault", COORDINATOR, _difference_words(entry.payload, cast))
    if fault == "invariant":
        return Sentence("violation", COORDINATOR, f"An invariant is broken: {entry.payload.get('says')}")
    who = cast.name(member_id) if member_id is not None else "The coordinator"
    if fault == "poll_throws" and member_id is not None:
        sentence = f"poll() of {who} throws {entry.payload.get('exception')}"
        return Sentence("fault", member_id, sentence)
    actor, payload = member_id or COORDINATOR, entry.payload
    if fault in ("lost_message", "duplicated_message"):
        return Sentence("fault", actor, _message_words(who, payload))
    if fault == "clock_jump" and isinstance(by_ms := payload.get("by_ms"), int):
        whose, way = f"{who}'s", "ahead" if by_ms >= 0 else "back"
        return Sentence("fault", actor, f"{whose} clock jumps {duration(abs(by_ms))} {way}")
    if (
        fault == "heal"
        and member_id is None
        and _coordinator_cut(step.before) == _coordinator_cut(step.after)
    ):
        return Sentence("fault", COORDINATOR, "The network is whole again")
    sentence, peer = FAULT_WORDS.get(fault, f"has a fault: {fault}"), text(payload.get("peer"))
    if peer is not None:
        whom = "the coordinator" if peer == COORDINATOR else cast.name(peer)
        sentence += f" {'from' if fault == 'cut' else 'by'} {whom}"
    return Sentence("fault", actor, f"{who} {sentence}")


def _difference_words(payload: Payload, cast: DisplayNames) -> str:
    """What was recorded and what the simulated coordinator has instead; structures are shown only in the entry."""
    what, member_id = str(payload.get("what")), text(payload.get("member"))
    if answer := ANSWER.fullmatch(what):
        # The field first: a list of differences in one answer is distinguished by it.
        what = f"{answer['field']} of the answer to {answer['member']}"
    if member_id is not None:
        what = what.replace(member_id, cast.name(member_id))
    recorded, simulated = payload.get("recorded"), payload.get("simulated")
    if recorded is None and simulated is None:
        return f"The simulated coordinator differs: {what}"
    if recorded is None or simulated is None:
        which = "recorded, not simulated" if simulated is None else "simulated, not recorded"
        return f"Differs: {what}: {which}"
    if isinstance(recorded, Mapping | list) or isinstance(simulated, Mapping | list):
        return f"Differs: {what}"
    return f"Differs: {what}: recorded {recorded}, simulated {simulated}"


def _coordinator_cut(state: State) -> tuple[str, ...]:
    return state.coordinator.cut if state.coordinator is not None else ()


def _message_words(who: str, payload: Payload) -> str:
    """Which message, and which way it went, if the entry has them."""
    api, answer = text(payload.get("api")), payload.get("way") == "response"
    what = f"{who}'s {MESSAGES.get(api, f'{api} request')}" if api else f"A message of {who}"
    if payload.get("fault") == "duplicated_message":
        return f"{what} arrives twice"
    return f"The answer to {what} is lost on the way" if answer else f"{what} is lost on the way"


def _fail_over_words(payload: Payload) -> str:
    """Who takes over, and for how long it answers nobody, if the entry has them."""
    to, loading_ms = text(payload.get("coordinator")), payload.get("loading_ms")
    release, skipped = text(payload.get("release")), payload.get("skipped")
    whom = f"{to} ({release})" if release else to
    sentence = f"The coordinator fails over to {whom}" if to else "The coordinator fails over"
    loads = isinstance(loading_ms, int) and loading_ms > 0
    if release and isinstance(skipped, int) and skipped > 0:
        for_how_long = f" for {duration(loading_ms)}" if isinstance(loading_ms, int) and loads else ""
        return f"{sentence}, which loads the log{for_how_long} and skips {counted(skipped, 'record')} of types that it does not know"
    return (
        f"{sentence}, which loads the log for {duration(loading_ms)}"
        if isinstance(loading_ms, int) and loads
        else sentence
    )


def _lost_words(payload: Payload) -> str:
    records = payload.get("records")
    if not isinstance(records, int):
        return "A batch is lost before it was replicated"
    verb, they = ("is", "it was") if records == 1 else ("are", "they were")
    return f"{counted(records, 'record')} {verb} lost before {they} replicated"


def _note_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    note = entry.payload.get("note")
    if note == READS and "busy" in entry.payload:
        does = "works on its records and does not poll" if entry.payload["busy"] else "polls again"
        return Sentence("note", entry.actor, f"{cast.name(entry.actor)} {does}")
    if note == "acl" and (member := text(entry.payload.get("member"))) is not None:
        return _right_sentence(entry.payload, cast.name(member))
    if note in ("log_line", "assignor_call"):
        return Sentence("note", entry.actor, str(entry.payload.get("says")))
    if note == "not_written":
        return Sentence("note", COORDINATOR, f"Nothing is written: {entry.payload.get('says')}")
    if note == "commit_fails":
        exception = entry.payload.get("exception")
        return Sentence("note", entry.actor, f"A commit of {cast.name(entry.actor)} fails: {exception}")
    if note == "feature":
        return Sentence("note", COORDINATOR, _feature_words(entry.payload))
    if note == "broker":
        return Sentence("note", COORDINATOR, _broker_words(entry.payload))
    if note == "transaction_ended":
        return Sentence("note", COORDINATOR, ended_words(entry.payload))
    if note in ("transaction", "aborted"):
        return Sentence("note", COORDINATOR, transaction_words(entry.payload))
    if note == "gap":
        return Sentence("gap", COORDINATOR, gap_words(entry.payload))
    if note == "config":
        return _config_sentence(mapping(entry.payload.get("config")))
    if note == "delete_group" and entry.payload.get("error"):
        code = entry.payload["error"]
        error = ERROR_NAMES.get(code, f"error {code}")
        return Sentence("note", COORDINATOR, f"The group is to be deleted, which is refused: {error}")
    if note != "topics":
        return None
    before, after = step.before.topics, step.after.topics
    sentence = []
    for name in mapping(entry.payload.get("topics")):
        old, new = before.get(name), after.get(name)
        if old is not None and new is None:
            sentence.append(f"{name} is deleted")
        elif old is not None and new is not None and old.topic_id != new.topic_id and old.topic_id:
            sentence.append(f"{name} is made anew")
        elif old is not None and new is not None and old.partitions != new.partitions and old.partitions:
            sentence.append(f"{name} has {counted(new.partitions or 0, 'partition')} now")
        elif old is None and new is not None and _shows_when(entry, step):
            again = name in step.before.former.values()
            if again or before:
                sentence.append(f"{name} is made{' anew' if again else ''}")
    return Sentence("metadata", COORDINATOR, "; ".join(sentence)) if sentence else None


def _right_sentence(payload: Payload, who: str) -> Sentence:
    """An ACL takes a right from a member's principal, or gives it back."""
    resource = "group" if "group" in payload else "topic"
    right = f"{str(payload.get('operation')).upper()} on the {resource} {payload.get(resource)}"
    does = "is allowed {} again" if payload.get("allowed") else "is denied {} (ACL)"
    return Sentence("note", COORDINATOR, f"{who} {does.format(right)}")


def _feature_words(payload: Payload) -> str:
    """What the level of a feature means for the consumer protocol."""
    feature, level, before = payload.get("feature"), payload.get("level"), payload.get("before")
    serve = "serve" if level else "do not serve"
    if not isinstance(before, int) or not isinstance(level, int):
        return f"{feature} is {level}: brokers {serve} the consumer protocol"
    way = "upgraded" if level > before else "downgraded"
    return f"{feature} is {way} from {before} to {level}: from now on brokers {serve} the consumer protocol"


def _broker_words(payload: Payload) -> str:
    """A broker that is rolled, or what it runs from the beginning on."""
    broker, release, before = payload.get("broker"), payload.get("release"), payload.get("before")
    if payload.get("event") == "stops":
        return f"{broker} ({release}) is stopped, to be rolled"
    if payload.get("event") == "starts":
        return f"{broker} is back, with {release}" + (
            f" in place of {before}" if before not in (None, release) else ""
        )
    return f"{broker} runs {release}"


def _config_sentence(config: Mapping[str, object]) -> Sentence | None:
    known = [
        f"{CONFIGS.get(name, name)} is {duration(value) if isinstance(value, int) else value} now"
        for name, value in config.items()
    ]
    return (
        Sentence("note", COORDINATOR, f"The group's settings change: {', '.join(known)}") if known else None
    )


def _shows_when(entry: Entry, step: Step) -> bool:
    """An inferred name does not show when its topic was made; a cluster, or its metadata log, does."""
    found_out = entry.provenance is Provenance.INFERRED and entry.payload.get("source") != METADATA_LOG
    return step.before.protocol is not None and not found_out


def gap_words(payload: Payload) -> str:
    """A gap in the log: which offsets, and why if it is known; of a group that is watched, what could not be seen."""
    if isinstance(sentence := payload.get("says"), str):
        return sentence
    start, end, reason = payload.get("from_offset"), payload.get("to_offset"), payload.get("reason")
    if payload.get("compacted"):
        sentence = f"Compacted: of offsets {start} to {end} only the newest record of each key is left"
        missing, offsets = payload.get("missing"), payload.get("offsets")
        if isinstance(missing, int) and isinstance(offsets, int):
            sentence += f"; {missing:,} of the partition's {offsets:,} offsets are gone"
        return sentence
    where = f"Offsets {start} to {end} are missing" if start is not None else "Records are missing"
    return f"{where}: {reason}" if reason else where


def _commits_sentence(step: Step, entry: Entry, cast: DisplayNames) -> Sentence | None:
    """``12 commits of 3 partitions in 1.9 s``; of one request which partitions."""
    run = run_of(entry)
    if run.requests == 1:
        sentence = f"Offsets of {partitions(run.latest)} are committed"
    else:
        sentence = f"{counted(run.requests, 'commit')} of {counted(len(run.latest), 'partition')}"
        sentence += f" in {duration(entry.at_ms - run.value_times_ms[0])}"
    return Sentence("commit", COORDINATOR, sentence)


TELLERS: Final[Mapping[Kind, Callable[[Step, Entry, DisplayNames], Sentence | None]]] = {
    Kind.REQUEST: _request_sentence,
    Kind.RESPONSE: _response_sentence,
    Kind.CALLBACK: _callback_sentence,
    Kind.FAULT: _fault_sentence,
    Kind.NOTE: _note_sentence,
    Kind.OBSERVATION: observation_sentence,
    Kind.COMMITS: _commits_sentence,
}
