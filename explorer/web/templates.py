"""Django's templates, whose pages show each hidden character of a name (``groups.terminal.page_text``)."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.template.backends.django import DjangoTemplates, Template
from django.utils.safestring import SafeString, mark_safe

from groups.terminal import page_text


class PageTemplate(Template):
    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        return mark_safe(page_text(super().render(context, request)))  # noqa: S308 (escaped as before)


class PageTemplates(DjangoTemplates):
    def get_template(self, template_name: str) -> PageTemplate:
        return PageTemplate(super().get_template(template_name).template, self)
