"""Headers of every answer: what a browser may load, show and send for our pages, and that others may not have them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.conf import settings

EMPTY_STYLE: Final = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
"""A style element without text, which Plotly makes and fills with rules one by one. A style of any text stays refused."""

MAP_STYLE: Final = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
"""The styles of maps, which Plotly's script puts into every page that loads it. We draw none; refused, they would be
an error in each reader's console."""

POLICY: Final = {
    "default-src": "'self'",
    # No script within a page, and none made of text.
    "script-src": "'self'",
    "style-src": f"'self' {EMPTY_STYLE} {MAP_STYLE}",
    # Plotly writes how the cells of a heat map are drawn into attributes. Nothing that a style names may be fetched.
    "style-src-attr": "'unsafe-inline'",
    # Plotly makes a picture of a figure by way of a drawing that is a URL itself.
    "img-src": "'self' data: blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
"""``Content-Security-Policy``. Sockets are named next to it, as older browsers do not count them as ``'self'``."""

UNUSED: Final = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media",
    "gamepad", "geolocation", "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer", "microphone",
    "midi", "payment", "screen-wake-lock", "serial", "storage-access", "usb", "xr-spatial-tracking",
)  # fmt: skip
"""What our pages need nothing of, so that nothing on them may have it."""

FRAMES: Final[bytes] = b"x-frame-options"

ALWAYS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"permissions-policy", ", ".join(f"{feature}=()" for feature in UNUSED).encode()),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (FRAMES, b"DENY"),
    (b"referrer-policy", b"same-origin"),
)

STYLE_NONCE: Final = b"x-style-nonce"
"""By this header a view names the nonce of the style elements that its page's own script makes; only the policy has it then."""

Headers = list[tuple[bytes, bytes]]


def policy_for(host: str, style_nonce: str = "") -> str:
    sockets = f"{'wss' if settings.BEHIND_TLS else 'ws'}://{host}"
    parts = {**POLICY, "connect-src": f"'self' {sockets}"}
    if style_nonce:
        parts["style-src"] += f" 'nonce-{style_nonce}'"
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def completed(status: int, headers: Headers, host: str) -> Headers:
    """An answer's headers with those that every answer has; what a view has set itself stays."""
    found = dict(headers)
    nonce = found.get(STYLE_NONCE, b"").decode()
    always: Iterable[tuple[bytes, bytes]] = ALWAYS
    if b"frame-ancestors http" in found.get(b"content-security-policy", b""):
        # A page that some sites may frame: the older header knows nobody or everybody.
        always = [(name, value) for name, value in ALWAYS if name != FRAMES]
    more = [*always, (b"content-security-policy", policy_for(host, nonce).encode("latin-1"))]
    if found.get(b"content-type", b"").startswith(b"text/html"):
        # A page holds names out of logs; the next user of the browser need not find it.
        more.append((b"cache-control", b"no-store"))
    if status in (429, 503):
        more.append((b"retry-after", b"1"))
    if settings.BEHIND_TLS and settings.HSTS_S:
        more.append((b"strict-transport-security", f"max-age={settings.HSTS_S}".encode()))
    kept = (header for header in headers if header[0] != STYLE_NONCE)
    return [*kept, *((name, value) for name, value in more if name not in found)]
