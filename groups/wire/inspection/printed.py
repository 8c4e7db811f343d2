"""Bytes as programming languages print them: arrays of numbers, and strings with escapes.

Numbers: ``[0, 1, -1]`` (Java, JavaScript, Rust, JSON), ``[0 1 255]`` (Go ``%v``), ``[]byte{0x0, 0xff}`` (Go ``%#v``),
``new byte[] {0x00, (byte) 0xff}``, ``<Buffer 00 ff>``. Strings: Python's and Rust's ``b'\\x00foo'``, Go's ``%q``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from groups.wire.errors import RecordError

HEX: Final = "hex"
DECIMAL: Final = "decimal numbers"
ESCAPES: Final = "text with escapes"

Form = Literal["hex", "base64", "decimal numbers", "text with escapes"]
"""How bytes were written."""


class BadText(RecordError):
    """Text that is not what it should be; ``line`` and ``column`` count from 1."""

    def __init__(self, sentence: str, *, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {sentence}")
        self.line = line
        self.column = column


def place(text: str, at: int) -> dict[str, int]:
    """Line and column of a character, both counted from 1."""
    before = text[:at]
    return {"line": before.count("\n") + 1, "column": at - (before.rfind("\n") + 1) + 1}


# --- numbers ---------------------------------------------------------------------------------------------------------

_LEFT_OUT: Final = re.compile(r"(?:\.\.\.|…)\s*(?:and\s+)?(\d+)?\s*(?:more)?")
_LIST: Final = re.compile(
    r"""\s*(?:new\s+)?
    (?:\[\d*\]\s*(?:byte|u?int8)|(?:s|unsigned\s+)?byte\s*\[\d*\]|U?[Ii]nt8Array(?:\(\d+\))?|Buffer(?:\.from)?
      |bytearray|bytes|byteArrayOf|vec!|array|<Buffer|\{\s*"type"\s*:\s*"Buffer"\s*,\s*"data"\s*:)?
    (?P<numbers>[^"']*)""",
    re.VERBOSE,
)
_NODE_BUFFER: Final = re.compile(r"\s*<Buffer(?P<pairs>(?:\s+[0-9a-f]{2})*)\s*>\s*")
_CAST: Final = re.compile(r"\(\s*s?byte\s*\)", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\s,;(){}\[\]<>|]+")
_PREFIXED: Final = re.compile(r"0[xX][0-9a-fA-F]{1,2}")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9]\d{0,2})")
_SHORT_HEX: Final = re.compile(r"[0-9a-fA-F]|[1-9a-fA-F][0-9a-fA-F]")


def _from_numbers(text: str) -> tuple[bytes, Form] | None:
    """The bytes of a list of numbers; ``None`` for what is none, and for hex of two digits a byte."""
    if (buffer := _NODE_BUFFER.fullmatch(text)) is not None:
        return bytes.fromhex(buffer["pairs"]), HEX
    found = _LIST.fullmatch(text)
    if found is None:
        return None
    # Casts become spaces, so that places stay the same.
    start = found.start("numbers")
    listed = " " * start + _CAST.sub(lambda cast: " " * len(cast[0]), text[start:])
    left_out = _LEFT_OUT.search(listed)
    words = list(_WORD.finditer(listed, 0, left_out.start() if left_out else len(listed)))
    form = _form_of(text, [word[0] for word in words])
    if left_out is not None and words and (form or all(len(word[0]) == 2 for word in words)):
        raise BadText(
            f"{left_out[1] or 'some'} bytes are left out here; print all of them",
            **place(text, left_out.start()),
        )
    if form is None:
        return None
    out = bytearray()
    for word in words:
        is_hex = form == HEX or word[0][:2] in ("0x", "0X")
        number = int(word[0], 16 if is_hex else 10)
        if not -128 <= number <= 255:
            raise BadText(f"{number} is no byte, which is from -128 to 255", **place(text, word.start()))
        out.append(number & 0xFF)
    return bytes(out), form


def _form_of(text: str, words: list[str]) -> Form | None:
    """Hex of one or two digits a word, or decimal; ``None`` if each word has two digits, or is something else."""
    prefixed = sum(bool(_PREFIXED.fullmatch(word)) for word in words)
    if prefixed and prefixed == len(words):
        return HEX
    plain = [word for word in words if not _PREFIXED.fullmatch(word)]
    is_array = "," in text or text.lstrip()[:1] in ("[", "{", "(")
    many = len(words) > 1 or plain[:1] != [word.lstrip("-") for word in plain[:1]]
    if not many or (prefixed and not is_array):
        return None
    if all(_DECIMAL.fullmatch(word) for word in plain):
        if any(len(word) != 2 or word.startswith("-") for word in plain):
            return DECIMAL
        if is_array:
            either = plain[0]
            raise BadText(
                f"{either} can be hex or decimal; write 0x{either} or 0x{int(either):02x}",
                **place(text, text.index(either)),
            )
    elif not prefixed and all(_SHORT_HEX.fullmatch(word) for word in words):
        return HEX if any(len(word) == 1 for word in words) else None
    return None


# --- strings with escapes --------------------------------------------------------------------------------------------

_LITERAL: Final = re.compile(r"""[bB]?(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')[\s,+]*""", re.DOTALL)
_AROUND: Final = re.compile(r"(?:bytearray|bytes|\[\]byte)?\s*[(\[]*\s*")
_HEX_PAIRS: Final = re.compile(
    r"\s*(?:\\x[0-9a-f]{2})(?:(?:\\x[0-9a-f]{2})*|(?:[\s,;]+\\x[0-9a-f]{2})*)\s*", re.IGNORECASE
)
_ESCAPE: Final = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{2})|(?P<octal>[0-7]{1,3})|u(?P<four>[0-9a-fA-F]{4})|U(?P<eight>[0-9a-fA-F]{8})"
    r"|(?P<letter>[abtnvfre\"'\\?#/]))"
)  # fmt: skip
_LOST: Final = re.compile("[\ud800-\udfff\ufffd]")
_LETTERS: Final = {
    "a": b"\a", "b": b"\b", "t": b"\t", "n": b"\n", "v": b"\v", "f": b"\f", "r": b"\r", "e": b"\x1b",
}  # fmt: skip


def _from_escapes(text: str) -> bytes | None:
    """The bytes of strings with escapes, or of one without its quotation marks; ``None`` for what is none."""
    if "\\" not in text or _HEX_PAIRS.fullmatch(text):
        return None
    if text.lstrip().startswith("\\"):
        return b"".join(_unescaped(text, len(text) - len(text.lstrip()), len(text.rstrip())))
    around = _AROUND.match(text)
    at = around.end() if around else 0
    out: list[bytes] = []
    while (found := _LITERAL.match(text, at)) is not None:
        out += _unescaped(text, *found.span(1 if found[1] is not None else 2))
        at = found.end()
    return b"".join(out) if out and not text[at:].strip(")] \r\n\t;") else None


def _unescaped(text: str, at: int, end: int) -> Iterator[bytes]:
    while at < end:
        if text[at] == "\\":
            found = _ESCAPE.match(text, at, end)
            if found is None:
                raise BadText(
                    f"{text[at : min(at + 2, end)]!r} begins no escape; known are \\x00, \\000, \\u0000, \\n and the like",
                    **place(text, at),
                )
            yield _escaped(found, text)
            at = found.end()
            continue
        after = text.find("\\", at, end)
        after = end if after < 0 else after
        # A printer writes line ends as escapes: these are of a window or a mail that wrapped the text.
        if (lost := _LOST.search(text, at, after)) is not None:
            raise BadText("bytes were lost when this was printed", **place(text, lost.start()))
        yield text[at:after].replace("\r", "").replace("\n", "").encode()
        at = after


def _escaped(found: re.Match[str], text: str) -> bytes:
    if found["hex"] is not None:
        return bytes.fromhex(found["hex"])
    if found["letter"] is not None:
        return _LETTERS.get(found["letter"], found["letter"].encode())
    if found["octal"] is not None:
        number = int(found["octal"], 8)
        if number > 255:
            raise BadText(f"{found[0]} is no byte, which is up to \\377", **place(text, found.start()))
        return bytes([number])
    number = int(found["four"] or found["eight"], 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise BadText(f"{found[0]} is no character", **place(text, found.start()))
    return chr(number).encode()


def bytes_from_printed(text: str) -> tuple[bytes, Form] | None:
    """The bytes that a language printed, and how; ``None`` for hex of two digits a byte, base64 and the rest."""
    if (escaped := _from_escapes(text)) is not None:
        return escaped, ESCAPES
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None and quoted["bytes"] and not _BYTES_AS_TEXT.fullmatch(quoted["inside"]):
        return b"".join(_unescaped(text, *quoted.span("inside"))), ESCAPES
    return _from_numbers(text)


_QUOTED: Final = re.compile(r"""\s*(?P<bytes>[bB]?)(?P<mark>["'])(?P<inside>[^"'\\]*)(?P=mark)\s*""")
_BYTES_AS_TEXT: Final = re.compile(
    r"(?:[0-9a-fA-F]{2})*|(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2,3}={1,2})?"
)


def without_quotes(text: str) -> str:
    """What is between the quotation marks of ``b'AAEC'``, which is hex or base64 that Python printed; else the text.

    Places stay the same: the marks become spaces.
    """
    found = _QUOTED.fullmatch(text)
    return text if found is None else " " * found.start("inside") + found["inside"]
