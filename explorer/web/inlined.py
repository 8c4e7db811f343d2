"""JSON that a page carries in itself, so that its first frame needs no further request."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from groups.terminal import page_json


def inlined(element_id: str, text: bytes) -> SafeString:
    """``text``, which is JSON, as a script element that is data and no script."""
    escaped = page_json(text.decode())
    # A name out of somebody's log must not end the element that it is in. (`translate` takes 50 times as long.)
    for sign in "<>&":
        escaped = escaped.replace(sign, f"\\u{ord(sign):04X}")
    data = mark_safe(escaped)  # noqa: S308 (escaped in the lines above)
    return format_html('<script type="application/json" id="{}">{}</script>', element_id, data)
