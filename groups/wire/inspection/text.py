"""Bytes from what people paste: hex in any spacing, dumps with offsets, base64, and bytes as languages print them."""

from __future__ import annotations

import binascii
import re
from typing import Final

from groups.wire.inspection.printed import HEX, BadText, Form, bytes_from_printed, place, without_quotes

BASE64: Final = "base64"

# What may stand between digits: spaces, commas, colons, the marks of arrays and strings in programs.
_BETWEEN_HEX: Final = re.compile(r"0x|\\x|[\s,;:·|{}\[\]()\"'<>]", re.IGNORECASE)
_HEX: Final = re.compile(rf"(?:{_BETWEEN_HEX.pattern}|[0-9a-f])*", re.IGNORECASE)
_HEX_WORD: Final = re.compile(r"(?:0x|\\x)?([0-9a-f]+)", re.IGNORECASE)
_DASHED: Final = re.compile(r"\s*[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2})+\s*")
_HEX_DIGITS: Final = re.compile(r"[0-9a-fA-F]*")
_BASE64_LETTERS: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_DUMP_LINE: Final = re.compile(r"\s*([0-9a-fA-F]{4,16})(?:(:)\s|\s{2,}|\s*$)(.*)")
# An offset of 6 or 7 zeros in front, another alone at the end.
_OTHER_DUMP: Final = re.compile(r"\s*0{6,7} .*\n[0-9a-fA-F]{6,7}\s*", re.DOTALL)
_URL_SAFE: Final = str.maketrans("-_", "+/")


def bytes_from_text(text: str) -> tuple[bytes, Form]:
    """The bytes, and which form the text had; ``BadText`` contains where it has none.

    What could be either is hex: base64 without a letter behind F is rare.
    """
    if (found := _from_hex_or_printed(text)) is not None:
        return found
    text = without_quotes(text)
    if (mistyped := _first_mistyped(text)) is not None:
        raise BadText(f"{text[mistyped]!r} is no hex digit", **place(text, mistyped))
    return bytes_from_base64(text), BASE64


def bytes_from_hex(text: str) -> tuple[bytes, Form]:
    """Hex in any spacing, a hex dump, or bytes as a language prints them; ``BadText`` contains where it is none."""
    found = _from_hex_or_printed(text)
    if found is None:
        matched = _HEX.match(without_quotes(text))
        at = matched.end() if matched else 0
        raise BadText(f"{text[at]!r} is no hex digit", **place(text, at))
    return found


def _from_hex_or_printed(text: str) -> tuple[bytes, Form] | None:
    """``None`` for what is neither."""
    if (dumped := _from_dump(text)) is not None:
        return dumped, HEX
    if _OTHER_DUMP.fullmatch(text):
        raise BadText(
            "a dump of `od` or `hexdump`, which may swap bytes; use `xxd` or `hexdump -C`", line=1, column=1
        )
    if (printed := bytes_from_printed(text)) is not None:
        return printed
    found = _from_hex(without_quotes(text))
    return None if found is None else (found, HEX)


def _from_hex(text: str) -> bytes | None:
    """``None`` for what is no hex at all."""
    if _DASHED.fullmatch(text):
        text = text.replace("-", " ")
    digits = _BETWEEN_HEX.sub("", text)
    if not _HEX_DIGITS.fullmatch(digits):
        return None
    for line in re.finditer(r".+", text):
        words = list(_HEX_WORD.finditer(text, *line.span()))
        # A line of one word may be a piece of one that was wrapped.
        for word in words if len(words) > 1 else ():
            if len(word[1]) % 2:
                raise BadText(
                    f"{word[0]!r} has an odd number of hex digits; a byte has two",
                    **place(text, word.start()),
                )
    if len(digits) % 2:
        raise BadText(
            f"an odd number of hex digits, {len(digits)}; a byte has two", **place(text, len(text.rstrip()))
        )
    return bytes.fromhex(digits)


def bytes_from_base64(text: str) -> bytes:
    """Base64 or base64url, padded or not, with any spaces; ``BadText`` contains where it is not."""
    text = without_quotes(text)
    letters = "".join(text.split())
    if not _BASE64_LETTERS.fullmatch(letters):
        at = _first_strange(text)
        raise BadText(f"{text[at]!r} belongs to neither hex nor base64", **place(text, at))
    bare = letters.rstrip("=")
    if len(bare) % 4 == 1:
        raise BadText(
            f"base64 is cut off: {len(bare)} letters, one too many or three too few",
            **place(text, len(text.rstrip())),
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
