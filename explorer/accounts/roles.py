"""What an account may do: its roles, and the scope of the token that it shows, weighed by the one table of permissions."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest

from explorer.accounts import audit
from explorer.accounts.models import Grant, Scope
from explorer.accounts.permissions import TABLE, Action, Role
from explorer.accounts.targets import Target
from groups.models import Cluster

RIGHTS: Final = "rebalance.rights"
"""In a request's scope: what its sender may do. Local mode has none, and everything is allowed."""


class Rights(NamedTuple):
    """What a sender may do. Compared as a whole with what it was before."""

    account: int
    role: Role
    on_clusters: tuple[tuple[str, Role], ...] = ()
    """Roles on single clusters that are higher than ``role``, by the cluster's id."""

    may_write: bool = True
    """False for a token that may only read."""

    def refused(self, action: Action, target: Target | None = None) -> str:
        """Why the sender may not do it to ``target`` (null: something new); empty if it may."""
        permission = TABLE[action]
        is_own = target is None or (target.author is not None and target.author == self.account)
        least = permission.own if is_own else permission.others
        role = self.role
        if target is not None and target.cluster is not None:
            role = max(role, dict(self.on_clusters).get(target.cluster, role))
        if role >= least:
            return ""
        if role >= permission.own:
            return f"Others made this: only {least.label}s may {permission.does}."
        return f"Only {least.label}s may {permission.does}; you are {_a(role)}."


def rights_of(user: User | None, scope: str = Scope.WRITE) -> Rights | None:
    """Null for nobody."""
    if user is None:
        return None
    may_write = scope == Scope.WRITE
    if user.is_superuser:
        return Rights(user.pk, Role.ADMIN, may_write=may_write)
    grants = Grant.objects.filter(account=user)
    everywhere = [each.role for each in grants if each.cluster_id is None]
    role = Role(max(everywhere, default=Role.VIEWER))
    higher = sorted(
        (each.cluster_id, Role(each.role)) for each in grants if each.cluster_id and each.role > role
    )
    return Rights(user.pk, role, tuple(higher), may_write)


def rights_in(request: HttpRequest) -> Rights | None:
    """What the sender of a request may do; null in local mode, where everything is allowed."""
    rights: Rights | None = getattr(request, "scope", {}).get(RIGHTS)
    return rights


def give(user: User, role: Role, cluster: Cluster | None = None) -> None:
    """Give an account a role, in the place of the one that it had there."""
    before = rights_of(user)
    had = before and (before.role if cluster is None else dict(before.on_clusters).get(cluster.pk))
    with transaction.atomic():
        if cluster is None:
            is_admin = role is Role.ADMIN
            User.objects.filter(pk=user.pk).update(is_superuser=is_admin, is_staff=is_admin)
            user.is_superuser = user.is_staff = is_admin
        Grant.objects.filter(account=user, cluster=cluster).delete()
        if role is Role.EDITOR or (cluster is not None and role is Role.ADMIN):
            Grant.objects.create(account=user, cluster=cluster, role=role)
    if had is not role:
        where = cluster.name if cluster else "everywhere"
        audit.note(
            audit.ROLE, user.get_username(), role=role.label, before=had.label if had else "", on=where
        )


def _a(role: Role) -> str:
    return f"{'an' if role.label[0] in 'ae' else 'a'} {role.label}"
