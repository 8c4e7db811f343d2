"""Bytes from whatever people paste: hex in any spacing, dumps with offsets, base64 and base64url."""

from __future__ import annotations

import binascii
import re
from typing import Final, Literal

from groups.wire.errors import RecordError

HEX: Final = "hex"
BASE64: Final = "base64"

# What may stand between digits: spaces, commas, colons, the marks of arrays and strings in programs.
_BETWEEN_HEX: Final = re.compile(r"0x|\\x|[\s,;:·|{}\[\]()\"'<>]", re.IGNORECASE)
_HEX: Final = re.compile(rf"(?:{_BETWEEN_HEX.pattern}|[0-9a-f])*", re.IGNORECASE)
_HEX_DIGITS: Final = re.compile(r"[0-9a-fA-F]*")
_BASE64_LETTERS: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_DUMP_LINE: Final = re.compile(r"\s*([0-9a-fA-F]{4,16})(?:(:)\s|\s{2,}|\s*$)(.*)")
# An offset of 6 or 7 zeros in front, another alone at the end.
_OTHER_DUMP: Final = re.compile(r"\s*0{6,7} .*\n[0-9a-fA-F]{6,7}\s*", re.DOTALL)
_URL_SAFE: Final = str.maketrans("-_", "+/")


class BadText(RecordError):
    """Text that is not what it should be; ``line`` and ``column`` count from 1."""

    def __init__(self, sentence: str, *, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {sentence}")
        self.line = line
        self.column = column


def bytes_from_text(text: str) -> tuple[bytes, Literal["hex", "base64"]]:
    """The bytes, and which form the text had; ``BadText`` says where it is neither.

    What could be either is hex: base64 without a letter behind F is rare.
    """
    if (found := _from_hex(text)) is not None:
        return found, HEX
    if (mistyped := _first_mistyped(text)) is not None:
        raise BadText(f"{text[mistyped]!r} is no hex digit", **_place(text, mistyped))
    return bytes_from_base64(text), BASE64


def bytes_from_hex(text: str) -> bytes:
    """Hex in any spacing, or a hex dump; ``BadText`` says where it is neither."""
    found = _from_hex(text)
    if found is None:
        matched = _HEX.match(text)
        at = matched.end() if matched else 0
        raise BadText(f"{text[at]!r} is no hex digit", **_place(text, at))
    return found


def _from_hex(text: str) -> bytes | None:
    """``None`` for what is no hex at all."""
    if (dumped := _from_dump(text)) is not None:
        return dumped
    digits = _BETWEEN_HEX.sub("", text)
    if not _HEX_DIGITS.fullmatch(digits):
        return None
    if _OTHER_DUMP.fullmatch(text):
        raise BadText(
            "a dump of `od` or `hexdump`, which may swap bytes; use `xxd` or `hexdump -C`", line=1, column=1
        )
    if len(digits) % 2:
        raise BadText(
            f"an odd number of hex digits, {len(digits)}; a byte has two", **_place(text, len(text.rstrip()))
        )
    return bytes.fromhex(digits)


def bytes_from_base64(text: str) -> bytes:
    """Base64 or base64url, padded or not, with any spaces; ``BadText`` says where it is not."""
    letters = "".join(text.split())
    if not _BASE64_LETTERS.fullmatch(letters):
        at = _first_strange(text)
        raise BadText(f"{text[at]!r} belongs to neither hex nor base64", **_place(text, at))
    bare = letters.rstrip("=")
    if len(bare) % 4 == 1:
        raise BadText(
            f"base64 is cut off: {len(bare)} letters, one too many or three too few",
            **_place(text, len(text.rstrip())),
        )
    return binascii.a2b_base64(bare.translate(_URL_SAFE) + "=" * (-len(bare) % 4))


def _from_dump(text: str) -> bytes | None:
    """What ``xxd`` or ``hexdump -C`` printed: an offset, the bytes, letters; ``None`` for anything else."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    matches = [(number, line, _DUMP_LINE.fullmatch(line)) for number, line in lines if line.strip() != "*"]
    if not matches or any(match is None for _, _, match in matches):
        return None
    first = matches[0][2]
    # Words of hex alone can look like offsets; those of a dump begin at 0.
    if first is None or int(first[1], 16) != 0 or not first[3]:
        return None
    out = bytearray()
    for number, _, match in matches:
        assert match is not None
        if int(match[1], 16) != len(out):
            raise BadText(
                f"the offset is {match[1]}, {len(out):0{len(match[1])}x} would be next"
                + (
                    "; repeated lines are left out (*): use `hexdump -v`" if len(lines) > len(matches) else ""
                ),
                line=number,
                column=match.start(1) + 1,
            )
        # Behind two spaces (xxd), or a bar (hexdump), stand the same bytes as letters.
        shown = match[3].split("  ")[0] if match[2] else match[3].split("|")[0]
        digits = "".join(shown.split())
        if not _HEX_DIGITS.fullmatch(digits) or len(digits) % 2:
            raise BadText("not the line of a hex dump", line=number, column=match.start(3) + 1)
        out += bytes.fromhex(digits)
    return bytes(out)


def _first_mistyped(text: str) -> int | None:
    """The first letter that is no hex digit, in text that is written as bytes are: two letters and a space."""
    words = text.split()
    if len(words) < 2 or any(len(word) != 2 for word in words):
        return None
    return next(
        at for at, letter in enumerate(text) if not letter.isspace() and not _HEX_DIGITS.fullmatch(letter)
    )


def _first_strange(text: str) -> int:
    """The first character that no form has; padding in the middle counts."""
    for at, character in enumerate(text):
        if not (character.isascii() and (character.isalnum() or character in "+/_-=" or character.isspace())):
            return at
    return text.index("=")


def _place(text: str, at: int) -> dict[str, int]:
    before = text[:at]
    return {"line": before.count("\n") + 1, "column": at - (before.rfind("\n") + 1) + 1}
