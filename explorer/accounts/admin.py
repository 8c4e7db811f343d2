"""Accounts on the admin pages: each with one role, in the place of Django's permissions of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from explorer.accounts.models import Grant, Identity
from explorer.accounts.permissions import Role
from explorer.accounts.roles import give, rights_of

ROLES = [(role.value, role.label) for role in Role]


class AccountForm(UserChangeForm):  # type: ignore[type-arg]
    role = forms.TypedChoiceField(
        choices=ROLES, coerce=int, help_text="Viewers look, editors add, admins manage."
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        rights = rights_of(self.instance if self.instance.pk else None)
        self.fields["role"].initial = (rights.role if rights else Role.VIEWER).value


class OnClusters(admin.TabularInline):  # type: ignore[type-arg]
    """Roles on single clusters, which add to the one everywhere."""

    model = Grant
    extra = 0
    verbose_name_plural = "roles on single clusters"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).exclude(cluster=None)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **more: Any) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **more)
        if db_field.name == "cluster" and field is not None:
            field.required = True
        return field


class Identities(admin.TabularInline):  # type: ignore[type-arg]
    """At a provider: an admin gives an account that was there before to its person."""

    model = Identity
    extra = 0


class Accounts(UserAdmin):  # type: ignore[type-arg]
    form = AccountForm
    inlines = (OnClusters, Identities)
    list_display = ("username", "email", "first_name", "last_name", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("What it may do", {"fields": ("is_active", "role")}),
        ("Since when", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields: ClassVar[Any] = ("last_login", "date_joined")

    def get_inlines(self, request: HttpRequest, obj: User | None) -> Any:
        shown = self.inlines if settings.OIDC else self.inlines[:1]
        return shown if obj else ()

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "role" in form.cleaned_data:
            give(obj, Role(form.cleaned_data["role"]))


admin.site.unregister((User, Group))
admin.site.register(User, Accounts)
