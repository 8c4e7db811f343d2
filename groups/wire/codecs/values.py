"""Values in the JSON form of Kafka's messages, which is what ``kafka-dump-log`` prints.

Which fields there are, and what each holds, a schema defines at run time (``groups.wire.codecs.schema``); so no type checker can
know it, and this is the one place of the wire formats where ``Any`` is used for that.
"""

from typing import Any

Value = Any
"""What one field holds: a bool, a number, text (ids in Kafka's base64 form, bytes in base64), ``None``, a list, ``Fields``."""

Fields = dict[str, Value]
"""A struct: its fields by name."""
