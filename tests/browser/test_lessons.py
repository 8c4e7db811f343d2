"""Lessons in a browser: predicted wrongly and rightly, by mouse, by drag and by keyboard alone; reloaded, and in two tabs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import becomes, chips
from tests.serving import Served

Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}


def lesson(open_page: Open, name: str, **options: Any) -> Page:
    page = open_page(f"/lessons/{name}", **options)
    page.wait_for_selector("html[data-alive]")
    return page


def choose(page: Page, *keys: str) -> None:
    for key in keys:
        page.locator(f'#ask [data-key="{key}"]').click()


def beat(page: Page, number: int, of: int) -> None:
    expect(page.locator("#place")).to_have_text(f"step {number} of {of}")


@pytest.mark.quick
def test_a_wrong_prediction_is_explained_and_a_right_one_moves_the_board(open_page: Open) -> None:
    page = lesson(open_page, "released-is-not-assigned")
    expect(page.locator("#table .hid")).to_have_count(9)
    for _ in range(2):
        page.get_by_role("button", name="Next").click()
    choose(page, "nobody")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("Somebody owns it: A.")
    choose(page, "A")
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Next").click()
    beat(page, 4, 5)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    assert chips(page)["foo-2"] == "nobody free"
    choose(page, "foo-2", "foo-5")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("Not quite.")
    expect(page.locator("#answer")).to_contain_text("B is still revoking it")
    # What comes is not shown before it was foretold.
    assert chips(page)["foo-2"] == "nobody free"
    expect(page.locator("#table [aria-current]")).to_contain_text("confirms the revocation")
    choose(page, "foo-5")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("owns foo-2.")
    becomes(
        page,
        "document.querySelector('#board .chip[data-key=\"foo-2\"]').closest('.lane').dataset.lane === 'C'",
    )
    expect(page.locator("#table [aria-current]")).to_contain_text("gets foo-2")
    page.get_by_role("button", name="Next").click()
    choose(page, "0")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("link", name="Next lesson")).to_be_visible()


def test_partitions_are_dragged_to_where_they_will_go(open_page: Open) -> None:
    page = lesson(open_page, "a-group-shares-partitions")
    # Who is still to come has no track yet.
    assert page.locator("#tracks .disc").all_text_contents() == ["A"]
    page.get_by_role("button", name="Next").click()
    for partition in ("orders-0", "orders-2"):
        page.locator(f'.pc[data-key="{partition}"]').drag_to(page.locator("#to"))
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("loses orders-2 here")
    page.locator('.pc[data-key="orders-2"]').drag_to(page.locator("#from"))
    page.locator('.pc[data-key="orders-1"]').drag_to(page.locator("#to"))
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("owns orders-0 and orders-1.")


def test_a_lesson_is_taken_by_keyboard_alone(open_page: Open) -> None:
    page = lesson(open_page, "three-epochs")
    press = page.keyboard.press
    press("ArrowRight")
    beat(page, 2, 6)
    # A question keeps the next beat closed, and takes the focus.
    press("ArrowRight")
    beat(page, 2, 6)
    # Where the answers are numbers, a number stands for itself.
    press("3")
    press("Tab")
    for _ in range(4):
        if page.evaluate("document.activeElement.id") == "check":
            break
        press("Tab")
    press("Enter")
    expect(page.locator("#answer")).to_contain_text("No target of epoch 3 is computed at this moment")
    page.locator("#ask .opt").first.focus()
    press("2")
    page.locator("#check").focus()
    press("Enter")
    expect(page.locator("#answer")).to_contain_text("The assignment epoch is 2.")
    expect(page.locator("#next")).to_be_focused()
    press("Enter")
    beat(page, 3, 6)
    press("ArrowLeft")
    beat(page, 2, 6)
    expect(page.locator("#check")).to_be_disabled()


def tab_to(page: Page, selector: str) -> None:
    """Tab, until the focus is there."""
    for _ in range(60):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


def test_a_whole_lesson_is_taken_by_keyboard_and_ear(open_page: Open) -> None:
    page = lesson(open_page, "heartbeats")
    press, said = page.keyboard.press, page.locator("#said")
    press("ArrowRight")
    expect(said).to_have_text("Step 2 of 5. A question: B comes back after 21.0 s. What will B own then?")
    tab_to(page, "#check")
    press("Enter")
    expect(page.locator("#answer")).to_contain_text("Not quite.")
    for partition in ("orders-2", "orders-3"):
        page.keyboard.press("Shift+Tab")
        tab_to(page, f'.pc[data-key="{partition}"]')
        press("Space")
        expect(page.locator(f'#to .pc[data-key="{partition}"]')).to_be_focused()
    tab_to(page, "#check")
    press("Enter")
    expect(said).to_contain_text("On the board: ")
    expect(page.locator("#next")).to_be_focused()
    press("Enter")
    beat(page, 3, 5)
    expect(page.locator("#title")).to_be_focused()
    press("ArrowRight")
    tab_to(page, '.opt[data-key="A"]')
    press("Space")
    tab_to(page, "#check")
    press("Enter")
    expect(page.locator("#answer")).to_contain_text("would have to own it")
    page.locator("#title").focus()
    tab_to(page, '.opt[data-key="A"]')
    press("ArrowDown")
    press("ArrowDown")
    expect(page.locator('.opt[data-key="nobody"]')).to_be_focused()
    press("Space")
    tab_to(page, "#check")
    press("Enter")
    expect(said).to_contain_text("nobody")
    press("Enter")
    beat(page, 5, 5)
    press("3")
    tab_to(page, "#check")
    press("Enter")
    tab_to(page, "#done a.go")
    press("Enter")
    page.wait_for_url(re.compile("/lessons/(?!heartbeats)"))


def test_who_holds_up_the_others_is_chosen(open_page: Open) -> None:
    page = lesson(open_page, "who-waits-for-whom")
    page.get_by_role("button", name="Next").click()
    choose(page, "A")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("B owns foo-5, which the target gives to C.")
    choose(page, "B")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("C waits for A and B.")


def test_an_incident_is_read_and_the_answer_can_be_shown(open_page: Open) -> None:
    page = lesson(open_page, "incident-lag-on-two")
    choose(page, "2")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("For the coordinator B is a member")
    page.get_by_role("button", name="Show the answer").click()
    expect(page.locator("#answer")).to_contain_text("its session runs down")
    page.get_by_role("button", name="Next").click()
    beat(page, 2, 3)


def test_the_leader_places_partitions_and_sees_the_six_answers(open_page: Open) -> None:
    page = lesson(open_page, "by-hand-sticky")
    check = page.get_by_role("button", name="Compare with the assignors")
    check.click()
    expect(page.locator("#answer")).to_contain_text("Yours is uneven, 0 to 3 and moves 0.")
    # Pressed, a partition goes to the next member that may have it.
    page.locator('.pc[data-key="orders-2"]').click()
    page.locator('.pc[data-key="orders-2"]').click()
    page.locator('.pc[data-key="orders-5"]').click()
    check.click()
    expect(page.locator("#answer")).to_contain_text("Yours is even and moves 2.")
    rows = page.locator("#answer .six tbody tr")
    expect(rows).to_have_count(8)
    assert rows.nth(4).inner_text().split() == ["sticky", "A", "A", "C", "B", "B", "C", "2"]
    page.get_by_role("button", name="Next").click()
    choose(page, "orders-2", "orders-5")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("C gets orders-2 and orders-5.")


def test_a_reload_the_back_button_and_another_tab_lose_nothing(open_page: Open, server: Served) -> None:
    page = lesson(open_page, "who-waits-for-whom")
    page.get_by_role("button", name="Next").click()
    choose(page, "A", "B")
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Next").click()
    beat(page, 3, 4)
    page.reload()
    beat(page, 3, 4)
    page.go_back()
    beat(page, 2, 4)
    expect(page.locator("#answer")).to_contain_text("C waits for A and B.")
    page.go_forward()
    beat(page, 3, 4)
    other = page.context.new_page()
    # Somebody who comes without a beat goes on where they were.
    other.goto(f"{server.url}/lessons/who-waits-for-whom")
    beat(other, 3, 4)
    choose(other, "B")
    other.get_by_role("button", name="Check").click()
    other.get_by_role("button", name="Next").click()
    # The first tab has followed, and knows the answer.
    beat(page, 4, 4)
    # An address that leads past an open question leads to the question.
    other.goto(f"{server.url}/lessons/three-epochs?beat=6")
    beat(other, 2, 6)
    other.goto(f"{server.url}/lessons/")
    expect(other.locator('[data-lesson="who-waits-for-whom"] .how')).to_have_text("step 4 of 4")


def test_the_presenter_sees_notes_and_the_others_follow(open_page: Open, server: Served) -> None:
    page = lesson(open_page, "a-group-shares-partitions")
    expect(page.locator("#notes")).to_be_hidden()
    presenter = page.context.new_page()
    presenter.goto(f"{server.url}/lessons/a-group-shares-partitions?presenter=1")
    expect(presenter.locator("#notes")).to_contain_text("Ask who has run a consumer before")
    expect(presenter.locator("#coming")).to_have_text("Next: A second process joins")
    presenter.get_by_role("button", name="Next").click()
    beat(page, 2, 4)


def test_presenting_opens_the_screen_for_the_class_in_a_second_window_that_follows(open_page: Open) -> None:
    page = lesson(open_page, "a-group-shares-partitions")
    with page.expect_popup() as opened:
        page.keyboard.press("p")
    screen = opened.value
    expect(screen.locator("html[data-alive]")).to_be_attached()
    expect(page.locator("#notes")).to_be_visible()
    expect(screen.locator("#notes")).to_be_hidden()
    page.get_by_role("button", name="Next").click()
    beat(screen, 2, 4)


def test_whoever_takes_over_adds_a_member_and_kills_another(open_page: Open) -> None:
    page = lesson(open_page, "released-is-not-assigned")
    page.get_by_role("button", name="Take over").click()
    expect(page.locator("#ask")).to_contain_text("You have taken over")
    page.get_by_role("button", name="Add a member").click()
    # The script's own newcomer would only come seconds later: it is the reader's that joins now.
    expect(page.locator("#now")).to_contain_text("C joins")
    expect(page.locator('#board .lane[data-lane="C"]')).to_be_visible()
    page.get_by_role("group", name="C").get_by_role("button", name="Kill").click()
    expect(page.get_by_role("group", name="C").get_by_role("button", name="Start again")).to_be_visible()
    page.get_by_role("button", name="Next moment").click()
    page.get_by_role("button", name="Back to the lesson").click()
    expect(page.locator("#title")).to_have_text("Two members own everything")
    expect(page.locator('#board .lane[data-lane="C"]')).to_have_count(0)


def test_a_lesson_is_written_with_its_mistakes_at_their_lines_and_played_beside(open_page: Open) -> None:
    page = open_page("/lessons/write?from=heartbeats")
    page.wait_for_selector("html[data-alive]")
    status = page.locator("#checked")
    expect(status).to_have_text("No mistakes: the run bears out every fact.")
    expect(page.locator("#title")).to_have_text("A request every few seconds")
    editor = page.get_by_label("The lesson’s YAML")
    text = editor.input_value()
    editor.fill(
        text.replace("A.count: 2,", "A.count: 5,", 1).replace("title: A request", "title: One request")
    )
    expect(status).to_have_text("1 mistake")
    expect(page.locator("#problems")).to_contain_text("the run says that A.count is 2, not 5")
    expect(page.locator("#title")).to_have_text("One request every few seconds")
    page.locator(".moments summary").click()
    page.locator("#moments li", has_text="B is killed").get_by_role("button", name="Add a beat").click()
    expect(editor).to_have_value(re.compile(r"- at: \{fault: B, nth: 3\}\n    title: What happens here"))
    editor.fill(text.replace("beats:", "beets:"))
    expect(page.locator("#problems")).to_contain_text("did you mean beats?")


def test_a_question_is_added_from_the_runs_moments_and_the_run_answers_it(open_page: Open) -> None:
    page = open_page("/lessons/write?from=heartbeats")
    page.wait_for_selector("html[data-alive]")
    status = page.locator("#checked")
    expect(status).to_have_text("No mistakes: the run bears out every fact.")
    page.locator(".moments summary").click()
    taken = page.locator("#moments li", has_text="A gets orders-2, orders-3").first
    taken.get_by_role("button", name="Ask what comes").click()
    editor = page.get_by_label("The lesson’s YAML")
    # It stands among the beats where the run has it, and what is right is the run's.
    expect(editor).to_have_value(
        re.compile(
            r'question: "In which state is the group after that\?"\n      at: \{target: coordinator\}\n'
            r'      of: group\.state\n      expect: "Stable"\n  - at: dies'
        )
    )
    expect(status).to_have_text("No mistakes: the run bears out every fact.")
    text = editor.input_value()
    editor.fill(text.replace("A.count: 2,", 'A.count: "?",', 1))
    expect(editor).to_have_value(re.compile(r'A\.count: "2",'))
    expect(status).to_have_text("No mistakes: the run bears out every fact.")


def test_what_is_taken_over_survives_no_reload_but_the_lesson_does(open_page: Open) -> None:
    page = lesson(open_page, "released-is-not-assigned")
    page.get_by_role("button", name="Next", exact=True).click()
    page.get_by_role("button", name="Take over").click()
    page.get_by_role("button", name="Add a member").click()
    expect(page.locator('#board .lane[data-lane="D"]')).to_be_visible()
    page.reload()
    beat(page, 2, 5)
    expect(page.locator('#board .lane[data-lane="D"]')).to_have_count(0)
    expect(page.locator("#title")).to_have_text("A newcomer is early")


def test_the_barrier_of_a_classic_group_is_read_and_its_wait_foretold(open_page: Open) -> None:
    page = lesson(open_page, "eager-everybody-stops")
    page.get_by_role("button", name="Next", exact=True).click()
    choose(page, "B", "C")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("C has sent its JoinGroup, and waits at the barrier.")
    choose(page, "C", "A")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("The others wait for A and B.")
    page.get_by_role("button", name="Next", exact=True).click()
    choose(page, "orders-0")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("has revoked it to join")
    choose(page, "orders-0")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#answer")).to_contain_text("A reads nothing.")


def test_a_pattern_is_named_to_who_has_found_it(open_page: Open, server: Served) -> None:
    page = lesson(open_page, "incident-lag-on-two")
    while page.locator("#done").is_hidden():
        show = page.get_by_role("button", name="Show the answer")
        if show.is_visible():
            show.click()
        elif page.locator("#next").is_enabled():
            page.locator("#next").click()
    expect(page.locator("#done")).to_contain_text("The pattern: session expiry.")
    page.goto(f"{server.url}/lessons/")
    expect(page.locator('[data-lesson="incident-lag-on-two"] .how')).to_have_text("session expiry")
    expect(page.locator('[data-lesson="incident-two-readers"] .how')).to_have_text("")
