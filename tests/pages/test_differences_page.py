"""The pages of the differences between KIP-848's text and the release: what the command lists and plays."""

from __future__ import annotations

import json
from html import unescape

import pytest
from django.test import Client

from simulations.proof.differences import DIFFERENCES

pytestmark = pytest.mark.once


def page_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return unescape(response.content.decode())


def test_the_list_leads_to_a_page_for_every_difference(client: Client, transactional_db: None) -> None:
    listed = page_of(client, "/differences")
    shown = [bool(each.case or each.scenario or each.studies) for each in DIFFERENCES]
    assert listed.count('<span class="quiet">words</span>') == shown.count(False)
    for each in DIFFERENCES:
        assert f'href="/differences/{each.id}"' in listed
        page = page_of(client, f"/differences/{each.id}")
        for words in filter(None, (each.proposal, each.reading, each.released, each.section)):
            assert words.replace("`", "") in page, each.id
        for study in each.studies:
            assert f'href="/t/{study}"' in page
        if each.scenario is not None:
            for found in (each.scenario.kip, each.scenario.kafka):
                assert f'<td class="mono">{json.dumps(found)}</td>' in page, each.id
            boards = page.count('<svg class="thumb"') + page.count("<td>nobody owns anything</td>")
            assert boards == (4 if each.case else 2), each.id
            assert each.scenario.text in page
        if each.case is None:
            assert each.unshown is not None
            assert each.unshown.replace("`", "") in page
            continue
        for found in (each.case.kip, each.case.kafka):
            assert f'<td class="mono">{json.dumps(found)}</td>' in page, each.id
        for operation in each.case.operations:
            assert f". {operation.text}</th>" in page


def test_a_page_has_the_board_of_the_text_next_to_the_releases(
    client: Client, transactional_db: None
) -> None:
    page = page_of(client, "/differences/told-to-give-up")
    assert page.count('<svg class="thumb"') == 2
    assert "A at epoch 1: foo-0, foo-1, foo-2" in page
    assert "A at epoch 2: foo-0, foo-1; to revoke foo-2" in page
    assert "B at epoch 3: nothing; waits for foo-2" in page
    assert 'rel="prev"' in page
    assert 'rel="next"' in page


def test_an_id_that_is_none_is_said_to_be_none(client: Client, transactional_db: None) -> None:
    response = client.get("/differences/nothing")
    assert response.status_code == 404
    assert "There is no difference nothing; /differences lists all." in response.content.decode()
