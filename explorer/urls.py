"""Every address: pages, the JSON API (docs/reference/api.md) and, in ``explorer.asgi``, the sockets."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, path, re_path

from explorer.pages.account import views as account
from explorer.pages.audit import views as audit
from explorer.pages.board import views as board
from explorer.pages.clusters import alerts
from explorer.pages.clusters import views as clusters
from explorer.pages.compare import views as compare
from explorer.pages.differences import views as differences
from explorer.pages.docs import views as docs
from explorer.pages.forks import views as forks
from explorer.pages.home import views as home
from explorer.pages.imports import views as imports
from explorer.pages.inspector import views as inspector
from explorer.pages.kept import views as kept
from explorer.pages.laboratory import views as laboratory
from explorer.pages.lessons import views as lessons
from explorer.pages.proofs import views as proofs
from explorer.pages.rehearsal import views as rehearsal
from explorer.pages.remedies import views as remedies
from explorer.pages.runs import views as runs
from explorer.pages.sweeps import views as sweeps
from explorer.pages.timelines import assignment, notes, rebalances, report, steps, together
from explorer.pages.timelines import timeline_api as timelines
from explorer.pages.troubles import views as troubles
from explorer.server.health import views as health
from explorer.server.metrics import views as metrics
from explorer.server.openapi import views as openapi
from explorer.server.status import views as status
from explorer.sharing import api as sharing
from explorer.sharing import views as shared
from explorer.sharing.tokens import SHAPE
from explorer.web.endpoint import View, endpoint


def api(address: str, name: str, **views: View) -> URLPattern:
    """An address of the JSON API, with the view of each method."""
    return path(f"api/{address}", endpoint(**views), name=f"api-{name}")


T = "timelines/<slug:timeline_id>"
IMPORT = "imports/<slug:import_id>"
CLUSTER = "clusters/<slug:cluster_id>"
SWEEP = "sweeps/<slug:sweep_id>"
CELL = f"{SWEEP}/cells/<int:cell>"
SEARCH = "remedies/<slug:search_id>"
PROOF = "proofs/<slug:proof_id>"

urlpatterns = [
    path("sign-in", account.SignIn.as_view(), name="sign-in"),
    path("sign-in/start", account.start_at_provider, name="sign-in-start"),
    path("sign-in/callback", account.back_from_provider, name="sign-in-callback"),
    path("sign-out", account.SignOut.as_view(), name="sign-out"),
    path("account", account.account, name="account"),
    path("account/password", account.ChangePassword.as_view(), name="account-password"),
    path("account/tokens", account.make_token, name="account-tokens"),
    path("account/tokens/<int:token_id>/revoke", account.revoke_token, name="account-token-revoke"),
    # It has a form of its own, which would not count guesses.
    path("admin/login/", account.no_admin, name="admin-login"),
    path("admin/", admin.site.urls),
    path("audit", audit.page, name="audit"),
    api("audit", "audit", GET=audit.api_entries),
    api("audit.jsonl", "audit-lines", GET=audit.api_lines),
    path("", home.home, name="home"),
    path("help/", home.help_page, name="help"),
    path("t/<slug:timeline_id>", board.board, name="board"),
    path("t/<slug:timeline_id>/rebalances", rebalances.show, name="rebalances"),
    path("t/<slug:timeline_id>/report", report.show, name="report"),
    path("t/<slug:timeline_id>/steps", steps.show, name="steps"),
    path("timelines", kept.page, name="timelines"),
    api("kept", "kept", GET=kept.api_list),
    api("kept/delete", "kept-delete", POST=kept.api_delete),
    path("groups", troubles.page, name="groups"),
    api("groups", "groups", GET=troubles.api_table),
    # Answered without a token (``explorer.access.keys.OPEN``).
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("status", status.page, name="status"),
    api("status", "status", GET=status.api_status),
    path("docs/", docs.page, name="docs"),
    path("docs/<path:name>", docs.page, name="docs-page"),
    api("openapi.json", "openapi", GET=openapi.api_document),
    path("api/docs", openapi.page, name="api-docs"),
    path("compare", compare.page, name="compare"),
    path("differences", differences.listing, name="differences"),
    path("differences/<slug:difference_id>", differences.page, name="difference"),
    path("import/", imports.new, name="import-new"),
    path("import/<slug:import_id>", imports.show, name="import"),
    api("imports", "imports", GET=imports.api_list, POST=imports.api_start),
    api(IMPORT, "import", GET=imports.api_detail, PATCH=imports.api_rename, DELETE=imports.api_delete),
    api(f"{IMPORT}/groups", "import-groups", GET=imports.api_groups),
    api(f"{IMPORT}/repeat", "import-repeat", POST=imports.api_repeat),
    api(f"{IMPORT}/cancel", "import-cancel", POST=imports.api_cancel),
    path("simulate/", runs.simulate, name="simulate"),
    api("runs", "runs", POST=runs.start),
    api("runs/check", "runs-check", POST=runs.check),
    path("inspect", inspector.page, name="inspector"),
    api("inspect", "inspect", POST=inspector.inspect_bytes),
    api("inspect/compare", "inspect-compare", POST=inspector.compare),
    api(f"{T}/entries/<int:sequence>/bytes", "entry-bytes", GET=inspector.record_bytes),
    path("laboratory", laboratory.page, name="laboratory"),
    api("laboratory", "laboratory", GET=laboratory.linked, POST=laboratory.change),
    api("laboratory/runs", "laboratory-runs", POST=laboratory.play),
    path("rehearsal", rehearsal.page, name="rehearsal"),
    api("rehearsal", "rehearsal", GET=rehearsal.linked, POST=rehearsal.described),
    api("rehearsal/plan", "rehearsal-plan", GET=rehearsal.plan, POST=rehearsal.plan_described),
    api("rehearsal/runs", "rehearsal-runs", POST=rehearsal.play),
    path("lessons/", lessons.overview, name="lessons"),
    path("lessons/write", lessons.write, name="lesson-write"),
    path("lessons/<slug:name>", lessons.lesson, name="lesson"),
    path("lessons/<slug:name>/handout", lessons.handout, name="lesson-handout"),
    api("lessons", "lessons", GET=lessons.api_listed),
    api("lessons/check", "lessons-check", POST=lessons.api_check),
    api("lessons/runs", "lessons-runs", POST=lessons.api_run),
    api("lessons/<slug:name>", "lesson", GET=lessons.api_lesson),
    path("sweeps", sweeps.new, name="sweeps"),
    path(SWEEP, sweeps.show, name="sweep"),
    api("sweeps", "sweeps", GET=sweeps.api_list, POST=sweeps.api_start),
    api(SWEEP, "sweep", GET=sweeps.api_detail, DELETE=sweeps.api_delete),
    api(f"{SWEEP}/cancel", "sweep-cancel", POST=sweeps.api_cancel),
    api(f"{SWEEP}/resume", "sweep-resume", POST=sweeps.api_resume),
    api(f"{SWEEP}/cases.csv", "sweep-table", GET=sweeps.api_table),
    api(CELL, "sweep-cell", GET=sweeps.api_cell),
    api(f"{CELL}/seeds/<int:seed>", "sweep-seed", GET=sweeps.api_seed),
    path(SEARCH, remedies.show, name="remedies"),
    api(f"{T}/remedies", "remedies", POST=remedies.start),
    api(SEARCH, "remedy-search", GET=remedies.detail),
    api(f"{SEARCH}/cancel", "remedy-cancel", POST=remedies.cancel),
    api(f"{SEARCH}/branches", "remedy-branches", POST=remedies.branch),
    path(PROOF, proofs.show, name="proof"),
    api("proofs", "proofs", GET=proofs.api_list, POST=proofs.api_start),
    api(PROOF, "proof", GET=proofs.api_detail),
    api(f"{PROOF}/cancel", "proof-cancel", POST=proofs.api_cancel),
    path("shared/<slug:link_id>/", shared.signed_in_page, name="share-signed-in"),
    path("shared/<slug:link_id>/state", shared.signed_in_state, name="share-signed-in-state"),
    path("s/open/<slug:link_id>/", shared.page, name="share-page"),
    path("s/open/<slug:link_id>/state", shared.state, name="share-state"),
    re_path(rf"^s/(?P<token>{SHAPE})$", shared.door, name="share-door"),
    re_path(rf"^s/(?P<token>{SHAPE})/card\.png$", shared.card, name="share-card"),
    re_path(rf"^s/(?P<token>{SHAPE})/embed/$", shared.embed, name="share-embed"),
    re_path(rf"^s/(?P<token>{SHAPE})/embed/state$", shared.embed_state, name="share-embed-state"),
    api(f"{T}/exports", "exports", POST=sharing.export),
    api(f"{T}/pseudonyms", "pseudonyms", POST=sharing.pseudonyms),
    api(f"{T}/links", "links", GET=sharing.listed, POST=sharing.make),
    api("comparisons/exports", "comparison-exports", POST=sharing.export_comparison),
    api("laboratory/exports", "laboratory-exports", POST=sharing.export_laboratory),
    api(
        "laboratory/links",
        "laboratory-links",
        GET=sharing.listed_of_laboratory,
        POST=sharing.make_of_laboratory,
    ),
    api("links/<slug:link_id>", "link", DELETE=sharing.withdraw),
    path("clusters", clusters.clusters, name="clusters"),
    path(CLUSTER, clusters.cluster, name="cluster"),
    path(f"{CLUSTER}/timelines", clusters.timelines, name="cluster-timelines"),
    api("clusters", "clusters", GET=clusters.api_list, POST=clusters.api_add),
    api("clusters/check", "clusters-check", POST=clusters.api_check),
    api(CLUSTER, "cluster", GET=clusters.api_detail, PATCH=clusters.api_change, DELETE=clusters.api_delete),
    api(f"{CLUSTER}/groups", "cluster-groups", GET=clusters.api_groups),
    api(f"{CLUSTER}/timelines", "cluster-timelines", GET=clusters.api_timelines),
    api(f"{CLUSTER}/alerts", "cluster-alerts", GET=alerts.api_alerts),
    api(f"{CLUSTER}/rules", "cluster-rules", GET=alerts.api_rules, POST=alerts.api_add),
    api(f"{CLUSTER}/rules/usual", "cluster-rules-usual", POST=alerts.api_usual),
    api(
        f"{CLUSTER}/rules/<slug:rule_id>",
        "cluster-rule",
        GET=alerts.api_rule,
        PATCH=alerts.api_change,
        DELETE=alerts.api_delete,
    ),
    api(f"{CLUSTER}/silences", "cluster-silences", GET=alerts.api_silences, POST=alerts.api_silence),
    api(f"{CLUSTER}/silences/<slug:silence_id>", "cluster-silence", DELETE=alerts.api_end_silence),
    api(f"{CLUSTER}/rules/<slug:rule_id>/test", "cluster-rule-test", POST=alerts.api_test),
    api("timelines", "timelines", GET=timelines.listed),
    api(T, "timeline", GET=timelines.detail, PATCH=timelines.rename, DELETE=timelines.delete),
    api(f"{T}/chunks/<int:first>", "chunk", GET=timelines.chunk),
    api(f"{T}/digest", "digest", GET=timelines.digest),
    api(f"{T}/offsets", "offsets", GET=timelines.offsets),
    api(f"{T}/lag", "lag", GET=timelines.lag),
    api(f"{T}/watch", "watch", GET=timelines.watch),
    api(f"{T}/motifs", "motifs", GET=timelines.motifs),
    api(f"{T}/range", "range", GET=timelines.range_cost),
    api(f"{T}/rebalances", "rebalances", GET=rebalances.listed),
    api(f"{T}/changes", "changes", GET=timelines.changes),
    api(f"{T}/frame", "frame", GET=timelines.frame),
    api(f"{T}/assignment", "assignment", GET=assignment.next_assignment),
    api(f"{T}/metrics", "metrics", GET=timelines.metrics),
    api(f"{T}/entries", "entries", GET=timelines.entries),
    api(f"{T}/figures/epochs", "figure-epochs", GET=timelines.epochs_figure),
    api(f"{T}/topics", "topics", PATCH=timelines.name_topics),
    api(f"{T}/together", "together", POST=together.say),
    api(f"{T}/notes", "notes", GET=notes.listed, POST=notes.write),
    api("notes/<slug:note_id>", "note", PATCH=notes.edit, DELETE=notes.delete),
    api(f"{T}/cancel", "cancel", POST=timelines.cancel),
    api(f"{T}/forks", "forks", GET=forks.offered, POST=forks.start),
]

handler400 = "explorer.access.failures.bad_request"
handler404 = "explorer.access.failures.not_found"
handler500 = "explorer.access.failures.server_error"
