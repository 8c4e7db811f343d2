"""``{% preloads 'js/pages/home.js' %}``: a browser asks for all of a page's modules at once."""

from __future__ import annotations

from itertools import chain

from django import template
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from explorer.web.modules import modules

register = template.Library()


@register.simple_tag
def preloads(*entries: str) -> SafeString:
    """A link for each module that these import, and for themselves."""
    found = dict.fromkeys(chain.from_iterable(map(modules, entries)))
    return format_html_join("\n", '<link rel="modulepreload" href="{}">', ((static(path),) for path in found))
