"""The report of a timeline: one page to print, and the same as Markdown."""

from __future__ import annotations

import pytest
from django.test import Client

from explorer.pages.timelines.report import Report, markdown, report_of, report_without_names
from groups import storage
from groups.exporting import fresh_key
from groups.models import Timeline
from groups.storage.handing_on import redactor_for
from tests.pages.test_compare_page import stored_studies

pytestmark = pytest.mark.django_db(transaction=True)

STUDY = "incident-slow-revocation"


@pytest.fixture
def study() -> Timeline:
    stored_studies(STUDY)
    return storage.get(STUDY)


def test_a_report_has_headline_rebalances_findings_and_what_the_log_cannot_show(
    client: Client, study: Timeline
) -> None:
    report = report_of(study)
    page = client.get(f"/t/{STUDY}/report").content.decode()
    text = client.get(f"/t/{STUDY}/report?format=md")
    assert text.headers["Content-Type"].startswith("text/markdown")
    plain = text.content.decode()
    table = client.get(f"/api/timelines/{STUDY}/rebalances").json()["rebalances"]
    assert len(report.rebalances) == len(table) > 1
    assert [row.moved for row in report.rebalances] == [one["moved"] for one in table]
    assert report.findings
    assert "waited" in report.headline
    assert report.headline in page
    assert f"# {report.headline}" in plain
    for heading in ("Rebalances", "Findings"):
        assert f"<h2>{heading}</h2>" in page
        assert f"## {heading}" in plain
    for found in report.findings:
        assert f"/t/{STUDY}?at={found.sequence}" in page
        assert f"/t/{STUDY}?at={found.sequence})" in plain
    assert '<svg class="thumb"' in page


def test_a_report_without_names_has_the_same_facts_under_pseudonyms_and_leads_nowhere(
    client: Client, study: Timeline
) -> None:
    address = f"/t/{STUDY}/report?names=hidden"
    page, text = client.get(address), client.get(f"{address}&format=md")
    names = [
        one.here for one in redactor_for(study, study.last, fresh_key()).pseudonyms() if len(one.here) > 1
    ]
    article = page.content.decode().partition("<article")[2]
    assert {study.group, "payments"} <= set(names)
    for name in (*names, study.title, STUDY):
        assert name not in article
        assert name not in text.content.decode()
    assert study.title not in page.content.decode().partition("</title>")[0]
    assert STUDY not in text.headers["Content-Disposition"]
    report, plain = report_without_names(study), report_of(study)
    assert [(row.sequence, row.moved, row.at) for row in report.rebalances] == [
        (row.sequence, row.moved, row.at) for row in plain.rebalances
    ]
    assert [found.sequence for found in report.findings] == [found.sequence for found in plain.findings]
    assert report.picture == plain.picture


def test_an_unknown_format_is_refused_in_one_line(client: Client, study: Timeline) -> None:
    answer = client.get(f"/t/{STUDY}/report?format=pdf")
    assert answer.status_code == 400
    assert "there are html and md" in answer.content.decode()


def test_names_of_a_log_are_text_in_markdown_too(study: Timeline) -> None:
    report = report_of(study)
    hostile: Report = report._replace(headline="<b>a|b</b> [x](http://evil)\n# heading \u202e", rebalances=())
    first = markdown(hostile, "https://here/t/x").splitlines()[0]
    assert first == r"# \<b\>a\|b\</b\> \[x\](http://evil) \# heading \\u202e"
