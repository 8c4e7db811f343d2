"""``manage.py decode [KIND] …``: bytes in, their fields with offsets out."""

from __future__ import annotations

import mmap
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
from django.core.management.base import CommandParser

from groups.command_line import TerminalCommand, in_one_line, usage, whole_number
from groups.wire.errors import RecordError
from groups.wire.inspection import (
    MOST_BYTES,
    Inspection,
    as_text,
    bytes_from_base64,
    bytes_from_hex,
    bytes_from_text,
    differences,
    edit,
    guess,
    inspect,
    inspect_record,
    kinds,
    seen_by,
    sentence_of,
)
from groups.wire.logs.batches import BatchProblem, read_placed_batches

AUTO = "auto"
STANDARD_INPUT = "-"

DIFFERS = 1
"""Exit code where the answer is "no": ``--against`` found differences."""

MAGIC_AT = 16
"""Where a batch has its magic byte, 2: it identifies a file that is too long to be guessed at."""


class Command(TerminalCommand):
    help = (
        "List bytes field by field: where each stands, what it holds, what it means; JSON on standard output."
    )

    # `manage.py check` and `serve` report settings that do not fit together; scripts need not print them each time.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "kind", nargs="?", metavar="KIND", help="default: auto, guessed; --kinds lists them"
        )
        parser.add_argument(
            "file", nargs="?", metavar="FILE", help="the bytes as they are; - is standard input"
        )
        parser.add_argument("--kinds", action="store_true", help="list every kind, a line each")
        parser.add_argument(
            "--hex", metavar="TEXT", help="the bytes in hex, as a hex dump, or as a language prints them"
        )
        parser.add_argument("--base64", metavar="TEXT", help="the bytes in base64 or base64url")
        parser.add_argument(
            "--key", metavar="TEXT", help="the record's key, hex or base64; the rest is its value"
        )
        parser.add_argument(
            "--api-version", type=whole_number, metavar="N", help="of a request or answer without header"
        )
        one = parser.add_mutually_exclusive_group()
        one.add_argument(
            "--as-version", type=whole_number, metavar="N", help="what a client sees that knows up to N"
        )
        one.add_argument(
            "--against", metavar="TEXT", help="other bytes, hex or base64, or @FILE: what differs"
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="PATH=VALUE",
            help="change a field; the new bytes are told",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # A reader that has seen enough (`| head`) is no failure.
        with suppress(BrokenPipeError):
            self.decode(options)

    def decode(self, options: dict[str, Any]) -> None:
        if options["kinds"]:
            for kind in kinds().values():
                versions = [] if kind.last_resort else list(kind.layout.versions)
                self.write(
                    {"kind": kind.name, "title": kind.title, "about": kind.about, "versions": versions}
                )
            return
        name, file = named(options)
        asked = [
            f"--{each.replace('_', '-')}"
            for each in ("set", "as_version", "against")
            if options[each] not in (None, [])
        ]
        if options["key"] is not None and asked:
            raise usage(f"{asked[0]} does not go with --key.")
        if name == "segment" and file is not None and not asked:
            self.segment(file)
            return
        data, how = bytes_of(options, file)
        if name == AUTO and file not in (None, STANDARD_INPUT) and is_long_segment(data):
            self.segment(str(file))
            return
        if len(data) > MOST_BYTES:
            raise usage(
                f"More than {MOST_BYTES} bytes, the most that are listed at once; "
                "`decode segment FILE` lists a log file batch by batch."
            )
        try:
            self.one(name, data, options, {"how": how} if how else {})
        except RecordError as error:
            raise usage(f"{error}.") from error

    def one(self, name: str, data: bytes, options: dict[str, Any], extra: dict[str, Any]) -> None:
        if options["key"] is not None:
            if name not in (AUTO, "record"):
                raise usage(f"--key belongs to a record, not to {name}.")
            # Without any bytes for the value it is a tombstone.
            done = inspect_record(text_of("--key", options["key"])[0], data or None)
        else:
            if name == AUTO:
                name, extra["guesses"] = guessed(data)
            for path, value in edits_of(options["set"]):
                data = edit(name, options["api_version"], data, path, value)
                extra["hex"] = data.hex()
            if options["as_version"] is not None:
                if options["as_version"] < 0:
                    raise usage("--as-version: versions count from 0.")
                self.write({"kind": name, **seen_by(name, data, options["as_version"])})
                return
            done = inspect(name, data, version=options["api_version"])
        if options["against"] is not None:
            self.against(done, options)
            return
        perhaps = not any(each["likely"] for each in extra.get("guesses", [{"likely": True}])[:1])
        self.write({**done.to_json(), "says": as_text(sentence_of(done, perhaps=perhaps)), **extra})
        if done.problem is not None:
            raise usage(f"{done.kind}: {done.problem}.")
        if extra.get("guesses") == []:
            raise usage(
                f"No kind reads these {done.length} bytes to the end; {done.kind} leaves {done.length - done.read}."
            )

    def against(self, done: Inspection, options: dict[str, Any]) -> None:
        against, _ = text_of("--against", options["against"])
        other = inspect(done.kind, against, version=options["api_version"])
        rows = differences(done, other)
        differing = sum(not row["same"] for row in rows)
        self.write(
            {
                "kind": done.kind,
                "versions": [done.version, other.version],
                "differing": differing,
                "rows": rows,
            }
        )
        for side, which in ((done, "the bytes"), (other, "--against")):
            if side.problem is not None:
                raise usage(f"{which}: {side.kind}: {side.problem}.")
        if differing:
            sys.exit(DIFFERS)

    def segment(self, file: str) -> None:
        """A line for each batch, of a file that is mapped and not read into memory."""
        damage = ""
        with mapped(file) as data:
            for position, length, outcome in read_placed_batches(data):
                if isinstance(outcome, BatchProblem):
                    self.write(
                        {
                            "kind": str(outcome.kind),
                            "position": position,
                            "length": length,
                            "meaning": outcome.reason,
                        }
                    )
                    if not outcome.is_normal:
                        damage = damage or f"{file}, byte {position}: {outcome.reason}."
                else:
                    done = inspect("batch", bytes(data[position : position + length]))
                    self.write({"position": position, **done.to_json(), "says": as_text(sentence_of(done))})
        if damage:
            raise usage(damage)

    def write(self, line: dict[str, Any]) -> None:
        self.stdout.write(orjson.dumps(line).decode())


def named(options: dict[str, Any]) -> tuple[str, str | None]:
    """Kind and file; a single word that is no kind may be a file."""
    name, file = options["kind"], options["file"]
    if name is None:
        return AUTO, None
    if name == AUTO or name in kinds():
        return name, file
    if file is None and (name == STANDARD_INPUT or Path(name).is_file()):
        return AUTO, name
    raise usage(f"{name!r} is no kind of bytes, and no file; `manage.py decode --kinds` lists the kinds.")


def bytes_of(options: dict[str, Any], file: str | None) -> tuple[bytes, str]:
    """The bytes, and the form in which text had them; empty for a file, which has the bytes themselves."""
    given = {name: options[name] for name in ("hex", "base64") if options[name] is not None}
    if file is not None:
        given["FILE"] = file
    if not given and options["key"] is not None:
        return b"", ""
    if len(given) != 1:
        raise usage("Which bytes? One of --hex TEXT, --base64 TEXT, or a FILE (- is standard input).")
    ((where, text),) = given.items()
    if where == "FILE":
        return contents(text), ""
    return text_of(f"--{where}", text)


FORMS: Final[dict[str, Callable[[str], tuple[bytes, str]]]] = {
    "--hex": bytes_from_hex,
    "--base64": lambda text: (bytes_from_base64(text), "base64"),
}
"""Options that name the form of their text; the form of the others is found by its letters."""


def text_of(option: str, text: str) -> tuple[bytes, str]:
    """Bytes of text on the command line, or of ``@FILE``, and the form that the text had."""
    if option == "--against" and text.startswith("@"):
        return contents(text[1:]), ""
    try:
        return FORMS.get(option, bytes_from_text)(text)
    except RecordError as error:
        raise usage(f"{option}: {error}.") from error


def contents(file: str) -> bytes:
    """A file's bytes, one more than can be listed at most."""
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        with Path(file).open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise usage(f"{file}: {error.strerror}.") from error


def is_long_segment(data: bytes) -> bool:
    return len(data) > MOST_BYTES and data[MAGIC_AT] == 2


def guessed(data: bytes) -> tuple[str, list[dict[str, Any]]]:
    """The likeliest kind, and all that the bytes could be read as to the end."""
    found = guess(data)
    if not data or not found:
        raise usage("There are no bytes to guess at.")
    return found[0].kind, [each.to_json() for each in found if each.whole]


def edits_of(words: list[str]) -> Iterator[tuple[str, Any]]:
    """``PATH=VALUE``: the value is JSON, or else text."""
    for word in words:
        path, separator, text = word.partition("=")
        if not separator or not path:
            raise usage(f"--set {word}: expected PATH=VALUE, such as generationId=8.")
        try:
            yield path, orjson.loads(text)
        except orjson.JSONDecodeError:
            yield path, text


@contextmanager
def mapped(file: str) -> Iterator[mmap.mmap | bytes]:
    """A file as memory that the system pages in and out; standard input is put into a file first."""
    with ExitStack() as stack:
        try:
            opened: BinaryIO = (
                stack.enter_context(tempfile.TemporaryFile())
                if file == STANDARD_INPUT
                else stack.enter_context(Path(file).open("rb"))
            )
            if file == STANDARD_INPUT:
                shutil.copyfileobj(sys.stdin.buffer, opened)
            size = opened.seek(0, 2)
        except OSError as error:
            raise usage(f"{file}: {error.strerror}.") from error
        if size == 0:
            # Nothing can be mapped of an empty file, which is a segment without batches.
            yield b""
            return
        yield stack.enter_context(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
