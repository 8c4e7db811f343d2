"""``{% term "group epoch" %}``: a word that explains itself where it is; the meaning is the glossary's."""

from __future__ import annotations

import orjson
from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from explorer.web.glossary import terms
from explorer.web.inlined import inlined
from groups.shown import or_title, shown_name

register = template.Library()


@register.simple_tag
def term(word: str, shown: str = "") -> SafeString:
    """``KeyError`` for a word that the glossary does not have: a page must not promise what is nowhere said."""
    terms()[word.lower()]
    return format_html(
        '<button type="button" class="term" data-term="{}">{}</button>', word.lower(), shown or word
    )


register.filter("shown_name", shown_name)
register.filter("or_title", or_title)


@register.simple_tag
def glossary_data() -> SafeString:
    """The glossary as data for ``static/js/shared/terms.js``."""
    return inlined("glossary-data", orjson.dumps(terms()))
