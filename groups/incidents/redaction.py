"""Keyed pseudonyms in the place of all that names somebody, consistent within one incident.

What is redacted are entries. Everything else that is shown of an incident (frames, changes, moments, findings, sentences, the verdict)
is made of redacted entries by the same fold as ever: so no place where a name could stand has to be found in them.

A name becomes its kind and a number (``topic-3``). Numbers are drawn by an HMAC of the name under the incident's key: they give
neither the order of the alphabet nor that of appearance, and two incidents of one group have nothing in common. Times, offsets, epochs,
partition numbers and counts stay.

The fold reads more of names than whether two are equal, and a pseudonym keeps all of that, so that the diagnosis stays the same:

* a generated member id, by its length, is nobody's name (``display_names``): its pseudonym is as long, without a number;
* what is called alike as a client, an instance and a member is called alike still, since these name the same process;
* reasons that Kafka's clients give are Kafka's words, and stay;
* subscriptions and assignments of the classic protocol, and those of Kafka Connect, are decoded, redacted and encoded again, the user data of Kafka's sticky
  assignors included. All other bytes are left out.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from groups.history.entries import EntryLine
from groups.history.evidence.display_names import NAME_LENGTH_MAX, REPLACEMENT_MARK
from groups.history.findings.patterns import poll_interval, two_rounds
from groups.incidents import fields
from groups.wire.embedded.connect_protocol import (
    decode_connect_assignment,
    decode_worker_state,
    encode_connect_assignment,
    encode_worker_state,
)
from groups.wire.embedded.consumer_protocol import (
    TopicPartition,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from groups.wire.embedded.user_data import (
    decode_cooperative_sticky,
    decode_sticky,
    encode_cooperative_sticky,
    encode_sticky,
)
from groups.wire.errors import WireError

KEY_BYTES: Final = 32
"""Of the key of one incident: anyone who has it can confirm a guessed name, so it is kept nowhere longer than the incident."""

NO_UUID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""The topic id of all zeros: no topic."""

PROCESS_KINDS: Final = ("member", "instance", "client")
"""Kinds of names that are shown for one process. Equal names of these kinds have one pseudonym, that of the first kind."""

ID_LETTERS: Final = 22
"""Of the pseudonym of a generated id: as many as Kafka's own ids have."""

UNREADABLE: Final = b"\0"
"""Bytes that nobody can read, for user data, a subscription or an assignment that cannot be read."""
UNREADABLE_TEXT: Final = base64.b64encode(UNREADABLE).decode()

READ_WITHIN: Final[Mapping[str, tuple[str, ...]]] = {
    "reason": (poll_interval.REASON, two_rounds.REASON),
    "assignor": (two_rounds.COOPERATIVE,),
}
"""Words of Kafka that findings look for within a text; a pseudonym keeps them."""

GENERATION_MOST: Final = 1 << 24
"""A larger generation in user data may be four letters of a text."""


class Pseudonym(NamedTuple):
    """``here`` is the name in the log, ``there`` its pseudonym."""

    kind: str
    here: str
    there: str


Replace = Callable[[str, str], str]


class Redactor:
    """Hides the names of one incident: ``meet`` every entry first, then ask for each one's ``redacted`` form."""

    def __init__(self, key: bytes) -> None:
        if len(key) < KEY_BYTES:
            raise ValueError(f"a key of {KEY_BYTES} bytes is needed, this one has {len(key)}")
        self._key = key
        self._names: dict[str, set[str]] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        self._places: set[str] = {""}
        """Restarts of a scenario's members, as their names have them: ``~2``."""

    def meet(self, entry: EntryLine) -> None:
        """Note the names in an entry (its JSON form)."""
        self._numbers = {}
        _Walk(self._met, self._digest).entry(entry)

    def meet_name(self, kind: str, value: str) -> None:
        """Note a name from outside the entries."""
        self._numbers = {}
        self._met(kind, value)

    def redacted(self, entry: EntryLine) -> EntryLine:
        """The entry with pseudonyms; the same fields, and all numbers but hashes."""
        return _Walk(self.name, self._digest).entry(entry)

    def name(self, kind: str, value: str) -> str:
        """The pseudonym of a name; ``KeyError`` for one that was not met."""
        if not value or value in fields.KNOWN_WORDS.get(kind, ()):
            return value
        if kind == "topic id":
            return value if value == NO_UUID else self._uuid(value)
        if kind == "member":
            if len(value) > NAME_LENGTH_MAX:
                return self._letters(value)
            base, place = _lane(value)
            return self._numbered(kind, base) + place
        found = next((word for word in READ_WITHIN.get(kind, ()) if word in value), None)
        return self._numbered(kind, value) + (f" ({found})" if found else "")

    def pseudonyms(self) -> list[Pseudonym]:
        """Every name that was met and its pseudonym, kind by kind in the order of ``fields.KINDS``, each by its number."""
        pairs = [
            Pseudonym(kind, value, there)
            for kind, values in self._names.items()
            for value in values
            if self._kind(kind, value) == kind and (there := self.name(kind, value)) != value
        ]
        return sorted(pairs, key=lambda one: (fields.KINDS.index(one.kind), len(one.there), one.there))

    def _met(self, kind: str, name: str) -> str:
        value = name
        if value and value not in fields.KNOWN_WORDS.get(kind, ()):
            if kind == "member" and len(value) <= NAME_LENGTH_MAX:
                value, place = _lane(value)
                self._places.add(place)
            self._names.setdefault(kind, set()).add(value)
        return name

    def _kind(self, kind: str, value: str) -> str:
        """The kind by which a name is called: for the names of processes, the first under which it was met."""
        if kind not in PROCESS_KINDS:
            return kind
        return next(each for each in PROCESS_KINDS if value in self._names.get(each, ()))

    def _numbered(self, kind: str, value: str) -> str:
        kind = self._kind(kind, value)
        if kind == "member" and len(value) > NAME_LENGTH_MAX:
            return self._letters(value)
        numbers = self._numbers.get(kind)
        if numbers is None:
            drawn = sorted(self._names[kind], key=lambda name: self._digest(f"{kind}\0{name}"))
            numbers = self._numbers[kind] = {name: number for number, name in enumerate(drawn, 1)}
        return f"{self._word(kind)}-{numbers[value]}"

    def _word(self, kind: str) -> str:
        """What is before the number. A scenario's member keeps a name that is short enough to be one."""
        if kind != "member":
            return kind.replace(" ", "-")
        longest = f"{kind}-{len(self._names[kind])}{max(self._places, key=len)}"
        return kind if len(longest) <= NAME_LENGTH_MAX else kind[0]

    def _letters(self, value: str) -> str:
        return self._digest(f"member\0{value}").hex()[:ID_LETTERS]

    def _uuid(self, value: str) -> str:
        return base64.urlsafe_b64encode(self._digest(f"topic id\0{value}")[:16]).decode().rstrip("=")

    def _digest(self, text: str) -> bytes:
        # A name out of a log may hold half of a surrogate pair.
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)


def in_text(names: Mapping[str, str]) -> Callable[[str], str]:
    """Replaces names within what a person wrote, the longest first; of more than two letters however they are capitalised.

    A name ends at whatever is no ASCII letter or digit: texts without blanks between words, as in Japanese, contain names too.
    """
    folded = {name.casefold(): there for name, there in names.items()}
    words = [(word, word.casefold()) for word in sorted(filter(None, names), key=len, reverse=True)]

    def replaced(text: str) -> str:
        # Thousands of names, of which a text contains a few.
        here = text.casefold()
        parts = [
            f"(?i:{re.escape(word)})" if len(word) > 2 else re.escape(word)
            for word, small in words
            if small in here
        ]
        if not parts:
            return text
        return re.sub(
            rf"(?<![A-Za-z0-9])(?:{'|'.join(parts)})(?![A-Za-z0-9])",
            lambda found: names.get(found[0]) or folded.get(found[0].casefold(), "(hidden)"),
            text,
        )

    return replaced


def _lane(member: str) -> tuple[str, str]:
    """A scenario's member as its first name and the number of its restart: ``A~2`` is ``A`` and ``~2``."""
    base, mark, place = member.partition(REPLACEMENT_MARK)
    return (base, mark + place) if place.isdigit() else (member, "")


class _Walk:
    """Goes through an entry and replaces its texts by kind."""

    def __init__(self, replace: Replace, digest: Callable[[str], bytes]) -> None:
        self._replace = replace
        self._digest = digest

    def entry(self, entry: EntryLine) -> EntryLine:
        payload = {key: self._field(key, value, "") for key, value in entry["payload"].items()}
        return {**entry, "actor": self._replace("member", entry["actor"]), "payload": payload}

    def _field(self, key: str, value: object, within: str) -> object:
        """The value of a field ``key``, which is in an object that is the value of ``within``."""
        if isinstance(value, str):
            return self._text(key, value, within)
        if isinstance(value, list):
            # Objects in a list have fields; only an object by itself may have names as its keys.
            return [
                self._fields(item, key) if isinstance(item, Mapping) else self._field(key, item, within)
                for item in value
            ]
        if isinstance(value, Mapping):
            if key in fields.MAPS:
                return self._map(key, value)
            if key in fields.SETTINGS:
                return {self._config(name): self._field("value", held, key) for name, held in value.items()}
            return self._fields(value, key)
        if key in fields.HASHES and isinstance(value, int) and value:
            return int.from_bytes(self._digest(f"hash\0{value}")[:8], signed=True)
        return value

    def _fields(self, value: Mapping[str, object], within: str) -> dict[str, object]:
        return {
            name if fields.FIELD_NAME.fullmatch(name) else self._replace(fields.TEXT, name): self._field(
                name, held, within
            )
            for name, held in value.items()
        }

    def _map(self, key: str, value: Mapping[str, object]) -> dict[str, object]:
        """An object whose keys are names. Where its values are objects, too, those have fields."""
        kind = fields.FIELDS[key]
        held_kind = "topics" if key == "regexes" else key
        return {
            self._replace(kind, name): self._fields(held, key)
            if isinstance(held, Mapping)
            else self._field(held_kind, held, key)
            for name, held in value.items()
        }

    def _config(self, name: str) -> str:
        return name if fields.CONFIG_NAME.fullmatch(name) else self._replace(fields.TEXT, name)

    def _text(self, key: str, value: str, within: str) -> str:
        if key in fields.SUBSCRIPTIONS or (key == "metadata" and within in fields.BLOBS_WITHIN):
            return self._subscription(value)
        if key in fields.ASSIGNMENTS:
            return self._assignment(value)
        if key in fields.BYTES:
            return ""
        if key in fields.OWN_WORDS and fields.OWN_WORD.fullmatch(value):
            return value
        if key in fields.RELEASES and fields.RELEASE.fullmatch(value):
            return value
        if key == "reason":
            return self._reason(value)
        if key == "name":
            return self._replace(fields.NAMES_WITHIN.get(within, fields.TEXT), value)
        return self._replace(fields.FIELDS.get(key, fields.TEXT), value)

    def _subscription(self, value: str) -> str:
        try:
            decoded = decode_subscription(base64.b64decode(value, validate=True))
            decoded["topics"] = [self._replace("topic", topic) for topic in decoded["topics"]]
            self._owned(decoded.get("ownedPartitions") or ())
            decoded["userData"] = self._user_data(decoded["userData"])
            if rack := decoded.get("rackId"):
                decoded["rackId"] = self._replace("rack", rack)
            return base64.b64encode(encode_subscription(decoded)).decode()
        except (WireError, ValueError):
            return self._worker_state(value)

    def _worker_state(self, value: str) -> str:
        """Of a worker of Kafka Connect: its url, and what it runs."""
        try:
            decoded = decode_worker_state(base64.b64decode(value, validate=True))
            decoded["url"] = self._replace("host", decoded["url"])
            if allocation := decoded.get("allocation"):
                decoded["allocation"] = self._connect_assignment(allocation)
            return base64.b64encode(encode_worker_state(decoded)).decode()
        except (WireError, ValueError):
            return UNREADABLE_TEXT if value else ""

    def _connect_assignment(self, value: str) -> str:
        try:
            decoded = decode_connect_assignment(base64.b64decode(value, validate=True))
            decoded["leader"] = self._replace("member", decoded["leader"])
            decoded["leaderUrl"] = self._replace("host", decoded["leaderUrl"])
            for each in (*(decoded["assignment"] or ()), *(decoded.get("revoked") or ())):
                each["connector"] = self._replace("connector", each["connector"])
            return base64.b64encode(encode_connect_assignment(decoded)).decode()
        except (WireError, ValueError):
            return UNREADABLE_TEXT if value else ""

    def _reason(self, value: str) -> str:
        if fields.CLIENT_REASON.fullmatch(value):
            return value
        if member := fields.MEMBER_REASON.fullmatch(value):
            return member["text"] + self._replace("member", member["member"])
        return self._replace("reason", value)

    def _user_data(self, value: str | None) -> str | None:
        """The user data of Kafka's sticky assignors with pseudonyms; nobody can read any other, so nobody can here."""
        if not value:
            return value
        return base64.b64encode(self._rewritten(base64.b64decode(value))).decode()

    def _rewritten(self, data: bytes) -> bytes:
        try:
            decoded = decode_sticky(data)
            self._owned(decoded["previousAssignment"])
            return encode_sticky(decoded)
        except (WireError, ValueError):
            pass  # As Kafka's own assignors do, the other form is tried.
        try:
            generation = decode_cooperative_sticky(data)
            return (
                encode_cooperative_sticky(generation)
                if generation["generation"] < GENERATION_MOST
                else UNREADABLE
            )
        except WireError:
            return UNREADABLE

    def _assignment(self, value: str) -> str:
        try:
            decoded = decode_assignment(base64.b64decode(value, validate=True))
            self._owned(decoded["assignedPartitions"])
            decoded["userData"] = None
            return base64.b64encode(encode_assignment(decoded)).decode()
        except (WireError, ValueError):
            return self._connect_assignment(value)

    def _owned(self, partitions: Iterable[TopicPartition]) -> None:
        for owned in partitions:
            owned["topic"] = self._replace("topic", owned["topic"])
