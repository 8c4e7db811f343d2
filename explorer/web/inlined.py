"""JSON that a page carries in itself, so that its first frame needs no further request."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from groups.terminal import page_json

# A name out of somebody's log must not end the element that it is in.
_ESCAPES = {ord("<"): "\\u003C", ord(">"): "\\u003E", ord("&"): "\\u0026"}


def inlined(element_id: str, text: bytes) -> SafeString:
    """``text``, which is JSON, as a script element that is data and no script."""
    escaped = mark_safe(page_json(text.decode()).translate(_ESCAPES))  # noqa: S308 (escaped in the line above)
    return format_html('<script type="application/json" id="{}">{}</script>', element_id, escaped)
