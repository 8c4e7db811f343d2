"""Addresses of signing in and out, of an account and its tokens, and Django's admin pages."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from explorer.pages.account import views

urlpatterns = [
    path("sign-in", views.SignIn.as_view(), name="sign-in"),
    path("sign-in/start", views.start_at_provider, name="sign-in-start"),
    path("sign-in/callback", views.back_from_provider, name="sign-in-callback"),
    path("sign-out", views.SignOut.as_view(), name="sign-out"),
    path("account", views.account, name="account"),
    path("account/password", views.ChangePassword.as_view(), name="account-password"),
    path("account/tokens", views.make_token, name="account-tokens"),
    path("account/tokens/<int:token_id>/revoke", views.revoke_token, name="account-token-revoke"),
    # It has a form of its own, which would not count guesses.
    path("admin/login/", views.no_admin, name="admin-login"),
    path("admin/", admin.site.urls),
]
