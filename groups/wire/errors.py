"""One class tree for everything that can be wrong with bytes, or with values that should become bytes.

::

    WireError
    ├── RecordError                 a record, a blob, or a field of one
    │   ├── TruncatedError          a length or a field reaches beyond the bytes that are left
    │   ├── MalformedError          the bytes are there and cannot mean anything
    │   ├── UnknownVersionError     a version that nobody here knows
    │   └── UnencodableError        a value that does not fit its field
    └── BatchError                  a record batch
        ├── CompressionError        its records do not decompress, or to more than is allowed
        └── UnwritableBatchError    a batch that cannot be written

The message of each is one sentence with what is wrong and where; ``offset`` is the byte where it was seen,
counted from the first byte of what was given to the decoder, and ``None`` where there are no bytes yet.
"""

from __future__ import annotations


class WireError(ValueError):
    """Something that cannot be read or written; see the module for the tree."""

    def __init__(self, sentence: str, *, offset: int | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.offset = offset
        self.path: tuple[str, ...] = ()

    def inside(self, name: str) -> None:
        """Say that the fault lies inside the field ``name``; called on the way out, innermost field first."""
        self.path = (name, *self.path)

    def __str__(self) -> str:
        where = ".".join(self.path)
        place = "" if self.offset is None else f"byte {self.offset}"
        prefix = ", ".join(part for part in (where, place) if part)
        return f"{prefix}: {self.sentence}" if prefix else self.sentence


class RecordError(WireError):
    """A record, a blob, or one of its fields cannot be read or written."""


class TruncatedError(RecordError):
    """A length or a field reaches beyond the bytes that are left."""

    def __init__(self, what: str, *, needed: int, left: int, offset: int) -> None:
        bytes_ = "byte" if needed == 1 else "bytes"
        super().__init__(
            f"{what} needs {needed} {bytes_}, {left} {'is' if left == 1 else 'are'} left", offset=offset
        )


class MalformedError(RecordError):
    """The bytes are there and cannot mean anything."""


class UnknownVersionError(RecordError):
    """A version, or a type, that nobody here knows."""


class UnencodableError(RecordError):
    """A value that does not fit its field."""


class BatchError(WireError):
    """A record batch cannot be read or written."""


class CompressionError(BatchError):
    """The records of a batch do not decompress, or decompress to more than is allowed.

    ``decompressed_bytes`` is at least what was made of them until that was found.
    """

    def __init__(self, sentence: str, *, offset: int | None = None, decompressed_bytes: int = 0) -> None:
        super().__init__(sentence, offset=offset)
        self.decompressed_bytes = decompressed_bytes


class UnwritableBatchError(BatchError):
    """A batch whose values do not fit the format."""
