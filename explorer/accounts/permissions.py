"""Who may do what: one table, by which the gate lets requests in, the pages hide what cannot be done, and the docs are written.

A row names the addresses of Django's URL map with the methods by which it is done, and sockets by their routes. An address or
method without a row is open to nobody.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from django.db.models import IntegerChoices


class Role(IntegerChoices):
    """What an account may do: each may do what those before it may."""

    VIEWER = 1, "viewer"
    EDITOR = 2, "editor"
    ADMIN = 3, "admin"


class Action(StrEnum):
    LOOK = "look"
    TRY = "try"
    TOGETHER = "together"
    NOTE = "note"
    CHANGE_NOTE = "change-note"
    EXPORT = "export"
    RUN = "run"
    IMPORT = "import"
    CHANGE = "change"
    DELETE = "delete"
    SHARE = "share"
    WITHDRAW = "withdraw"
    RULE = "rule"
    CHANGE_RULE = "change-rule"
    TARGET = "target"
    CLUSTER = "cluster"
    ACCOUNT = "account"
    TOKENS = "tokens"
    ADMINISTER = "administer"


class Permission(NamedTuple):
    does: str
    """What it is, after "to"."""

    own: Role
    """The least role for what is new, and for what the account has made itself."""

    others: Role
    """The least role for what others have made, and for what has no author."""

    addresses: str
    """A line for each method: the method, then the names of addresses."""


VIEWER, EDITOR, ADMIN = Role.VIEWER, Role.EDITOR, Role.ADMIN

TABLE: Final = {
    Action.LOOK: Permission(
        "read every page, timeline, import, cluster and answer of the API, and open sockets", VIEWER, VIEWER,
        """
        GET home help board timelines groups metrics status api-status api-openapi api-docs docs docs-page compare differences difference import-new import simulate inspector laboratory rehearsal clusters cluster cluster-timelines
        GET lessons lesson lesson-write lesson-handout sweeps sweep
        GET share-signed-in share-signed-in-state rebalances report steps api-rebalances remedies api-remedy-search proof api-proofs api-proof api-kept api-groups api-imports api-import api-import-groups api-entry-bytes api-laboratory api-rehearsal api-rehearsal-plan api-lessons api-lesson
        GET api-sweeps api-sweep api-sweep-table api-sweep-cell api-sweep-seed api-links api-laboratory-links
        GET api-clusters api-cluster api-cluster-groups api-cluster-timelines api-cluster-alerts api-cluster-rules api-cluster-rule api-cluster-silences
        GET api-timelines api-timeline api-chunk api-digest api-offsets api-lag api-range api-watch api-motifs api-notes api-changes api-frame api-assignment api-metrics api-entries api-figure-epochs api-forks
        SOCKET ws/timelines/<slug:key> ws/together/<slug:key> ws/imports/<slug:key> ws/sweeps/<slug:key> ws/clusters/<slug:key>
        """,
    ),
    Action.TRY: Permission(
        "compute what is not kept: decode bytes, ask the laboratory, plan an upgrade, check a lesson or a scenario", VIEWER, VIEWER,
        "POST api-inspect api-inspect-compare api-laboratory api-rehearsal api-rehearsal-plan api-lessons-check api-runs-check",
    ),
    Action.TOGETHER: Permission(
        "look together: present to those who look at a timeline, follow, hand over", VIEWER, VIEWER,
        "POST api-together",
    ),
    Action.NOTE: Permission("write notes, questions and replies at moments of a timeline", EDITOR, EDITOR, "POST api-notes"),
    Action.CHANGE_NOTE: Permission("edit or delete a note", EDITOR, ADMIN, "PATCH api-note\nDELETE api-note"),
    Action.EXPORT: Permission(
        "take an incident, a comparison or a group of the laboratory along as a file", VIEWER, VIEWER,
        "POST api-exports api-pseudonyms api-comparison-exports api-laboratory-exports",
    ),
    Action.RUN: Permission(
        "start runs, forks, upgrades, lessons, sweeps and searches for remedies and proofs that are kept", EDITOR, EDITOR,
        "POST simulate compare rehearsal sweeps api-runs api-forks api-laboratory-runs api-rehearsal-runs api-lessons-runs api-sweeps api-remedies api-remedy-branches api-proofs",
    ),
    Action.IMPORT: Permission("import a log", EDITOR, EDITOR, "POST api-imports import-new"),
    Action.CHANGE: Permission(
        "rename, name topics of, cancel, repeat or resume a timeline, an import, a sweep, a search for remedies or a proof", EDITOR, ADMIN,
        """
        PATCH api-timeline api-topics api-import
        POST api-cancel api-remedy-cancel api-proof-cancel api-import-cancel api-import-repeat api-sweep-cancel api-sweep-resume
        """,
    ),
    Action.DELETE: Permission(
        "delete a timeline, an import or a sweep", EDITOR, ADMIN,
        """
        DELETE api-timeline api-import api-sweep
        POST api-kept-delete
        """,
    ),
    Action.SHARE: Permission("make a share link", EDITOR, EDITOR, "POST api-links api-laboratory-links"),
    Action.WITHDRAW: Permission("withdraw a share link", EDITOR, ADMIN, "DELETE api-link"),
    Action.RULE: Permission("add an alert rule that is shown on the page alone, add and end a silence", EDITOR, EDITOR, "POST api-cluster-rules api-cluster-rules-usual api-cluster-silences\nDELETE api-cluster-silence"),
    Action.CHANGE_RULE: Permission("switch or remove an alert rule", EDITOR, ADMIN, "PATCH api-cluster-rule\nDELETE api-cluster-rule"),
    Action.TARGET: Permission(
        "give an alert rule a webhook, and send it a test", ADMIN, ADMIN, "POST api-cluster-rule-test"
    ),
    Action.CLUSTER: Permission(
        "add, check, pause or remove a cluster", ADMIN, ADMIN,
        """
        POST api-clusters api-clusters-check
        PATCH api-cluster
        DELETE api-cluster
        """,
    ),
    Action.ACCOUNT: Permission(
        "sign in and out", VIEWER, VIEWER,
        """
        GET account account-password sign-in sign-in-start sign-in-callback
        POST sign-in sign-out
        """,
    ),
    Action.TOKENS: Permission("make and revoke one's own tokens, change one's own password", VIEWER, VIEWER, "POST account-tokens account-token-revoke account-password"),
    Action.ADMINISTER: Permission(
        "manage accounts and their roles, read and export the audit log", ADMIN, ADMIN,
        """
        GET admin admin-login audit api-audit api-audit-lines
        POST admin
        """,
    ),
}  # fmt: skip


NOT_LOGGED: Final = (Action.LOOK, Action.TRY, Action.TOGETHER, Action.ACCOUNT)
"""What leaves no entry in the audit log; signing in and out leave their own."""


def _by_address() -> dict[tuple[str, str], Action]:
    found: dict[tuple[str, str], Action] = {}
    for action, permission in TABLE.items():
        for method, *names in map(str.split, permission.addresses.strip().splitlines()):
            found |= {(method, name): action for name in names}
    return found


BY_ADDRESS: Final = _by_address()
"""The action of a method and the name of an address."""
