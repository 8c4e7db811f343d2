from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.serving import ROOT, Served

Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}
WORKED = "00 01 00 00 00 01 00 03 66 6f 6f ff ff ff ff 00 00 00 01 00 03 66 6f 6f 00 00 00 02 00 00 00 00 00 00 00 01"
"""A subscription of version 1 to foo, which owns foo-0 and foo-1."""
PARTITIONS = "ownedPartitions.0.partitions"


def paste(page: Page, text: str) -> None:
    page.get_by_label("Bytes", exact=True).fill(text)
    expect(page.locator(".fr").first).to_be_visible()


def row(page: Page, path: str) -> Locator:
    return page.locator(f'.fr[data-path="{path}"]')


def lit(page: Page) -> list[int]:
    """The bytes that are lit, by their place."""
    return page.locator(".by.lit").evaluate_all("cells => cells.map((cell) => Number(cell.dataset.b))")


def changed(page: Page) -> list[int]:
    return page.locator(".by.ch").evaluate_all("cells => cells.map((cell) => Number(cell.dataset.b))")


def test_a_field_under_the_pointer_lights_up_its_bytes_and_a_byte_its_field(open_page: Open) -> None:
    page = open_page("/inspect")
    paste(page, WORKED)
    expect(page.locator("#says")).to_contain_text("A subscription, version 1, to foo")
    expect(page.get_by_role("combobox", name="Kind")).to_have_value("subscription")
    row(page, PARTITIONS).locator(".ty").hover()
    expect(row(page, PARTITIONS)).to_have_attribute("aria-selected", "true")
    assert lit(page) == list(range(24, 36))
    assert page.locator(".by.lit.pre").count() == 4
    expect(page.locator("#lies")).to_contain_text(
        "partitions at 24, 12 bytes: 4 of length (a count), 8 of content"
    )
    row(page, PARTITIONS).locator(".pt").nth(1).hover()
    assert lit(page) == [32, 33, 34, 35]
    page.locator('[data-b="8"]').hover()
    expect(row(page, "topics")).to_have_attribute("aria-selected", "true")
    page.locator("#says .clause", has_text="foo-0").first.click()
    expect(row(page, "ownedPartitions")).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="v0", exact=True).click()
    assert page.locator(".by.un, .by.lit").count() == 21
    expect(page.locator("#clients s")).to_have_text("foo 0 1")


@pytest.mark.quick
def test_an_edit_changes_bytes_and_the_lengths_around_and_is_taken_back(open_page: Open) -> None:
    page = open_page("/inspect")
    page.get_by_role("button", name="A classic group’s record").click()
    path = "members.0.assignment.assignedPartitions.0.partitions"
    row(page, path).dblclick()
    page.get_by_label("partitions, array int32").fill("0 1 x")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("x is no int32: whole numbers from -2147483648 to")
    page.get_by_label("partitions, array int32").fill("0 1 5")
    page.keyboard.press("Enter")
    expect(page.locator("#size")).to_have_text("428 bytes")
    # The blob's length, the count, and the new number; nothing of what moved.
    assert changed(page) == [228, 246, 255, 256, 257, 258]
    expect(page.locator("#lies")).to_contain_text("6 bytes changed")
    expect(page.locator("#says")).to_contain_text("is given orders-0, 1, 5")
    row(page, "protocol").dblclick()
    page.get_by_role("button", name="null", exact=True).click()
    expect(row(page, "protocol").locator(".vl")).to_have_text("null")
    page.get_by_role("button", name="Undo edit (2)").click()
    page.get_by_role("button", name="Undo edit", exact=True).click()
    expect(page.locator("#size")).to_have_text("424 bytes")
    expect(page.locator(".by.ch")).to_have_count(0)


def test_it_can_be_used_by_keys_alone(open_page: Open) -> None:
    page = open_page("/inspect")
    page.keyboard.press("/")
    page.keyboard.insert_text(WORKED)
    expect(page.locator(".fr").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("treegrid")).to_be_focused()
    page.keyboard.press("End")
    expect(row(page, PARTITIONS)).to_have_attribute("aria-selected", "true")
    assert page.get_by_role("treegrid").get_attribute("aria-activedescendant") == row(
        page, PARTITIONS
    ).get_attribute("id")
    page.keyboard.press("ArrowRight")
    assert lit(page) == [28, 29, 30, 31]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(row(page, "ownedPartitions.0")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")
    expect(row(page, "ownedPartitions.0")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("0")
    page.keyboard.press("Enter")
    expect(page.locator("#size")).to_have_text("15 bytes")
    expect(page.get_by_role("treegrid")).to_be_focused()
    page.keyboard.press("u")
    expect(page.locator("#size")).to_have_text("36 bytes")
    page.keyboard.press("h")
    expect(page.locator("#hex")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(row(page, "ownedPartitions")).to_have_attribute("aria-selected", "true")
    assert page.locator("#hex").get_attribute("aria-activedescendant")


def test_null_and_empty_are_told_apart_by_keys_alone(open_page: Open) -> None:
    page = open_page("/inspect")
    page.get_by_role("button", name="A classic group’s record").click()
    instance = row(page, "members.0.groupInstanceId")
    instance.locator(".nm").click()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(instance.locator(".vl")).to_have_text("null")
    for says in ("empty", "null"):
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=says, exact=True)).to_be_focused()
        page.keyboard.press("Enter")
        expect(instance.locator(".vl")).to_have_text(says)
        expect(page.get_by_role("treegrid")).to_be_focused()


def test_what_a_row_has_no_room_for_stands_below_the_bytes(open_page: Open) -> None:
    page = open_page("/inspect")
    page.get_by_role("button", name="A classic group’s record").click()
    row(page, "members.0.memberId").locator(".ty").hover()
    expect(page.locator("#lies .full")).to_contain_text("c-117-7d1f0c52-3b0e-4f6a-9a31-5c8e2b64d0f7")
    row(page, "generation").locator(".ty").hover()
    expect(page.locator("#lies .full")).to_have_count(0)


def test_back_leads_from_what_was_opened_to_the_examples(open_page: Open) -> None:
    page = open_page("/inspect")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.get_by_role("button", name="A subscription", exact=False).first.click()
    expect(page.locator("#size")).to_have_text("36 bytes")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    page.go_back()
    expect(page.get_by_role("heading", name="Nothing is open")).to_be_visible()
    expect(page.locator("#tree")).to_be_hidden()
    page.go_forward()
    expect(page.locator("#size")).to_have_text("36 bytes")
    page.go_back()
    page.get_by_role("button", name="Compare two", exact=True).click()
    page.get_by_role("button", name="Compare two members of a classic group").click()
    expect(page.locator("#subtitle")).to_have_text("4 of 7 fields differ")
    page.get_by_role("button", name="One", exact=True).click()
    expect(page.locator("#size")).to_have_text("424 bytes")
    assert "kind=group-metadata-value" in page.url


def test_two_are_compared_field_by_field(open_page: Open) -> None:
    page = open_page("/inspect")
    page.get_by_role("button", name="A classic group’s record").click()
    page.get_by_role("button", name="Compare two", exact=True).click()
    expect(page.locator("#subtitle")).to_have_text("4 of 7 fields differ")
    pairs = page.get_by_role("grid", name="Fields of both")
    expect(pairs.get_by_role("row", name="rackId")).to_contain_text("not in v1")
    expect(page.get_by_role("heading", name="If c-042 leads")).to_be_visible()
    pairs.get_by_role("row", name="ownedPartitions[0].partitions").hover()
    assert page.locator("#pair .by.lit").count() == 32
    page.get_by_label("Second").fill(WORKED)
    expect(page.locator("#pair h3").last).to_have_text("second")
    assert "kind=subscription" in page.url


def test_a_record_is_compared_with_the_one_before_of_its_key_and_linked(
    open_page: Open, server: Served
) -> None:
    page = open_page("/inspect")
    told = page.request.get(
        f"{server.url}/api/timelines/kip848-basic/entries?from=1&to=200", headers=server.headers
    ).json()
    records = [each for each in told["entries"] if each["kind"] == "record" and each["payload"]["type"] == 8]
    first = records[0]
    entry = next(
        each["sequence"] for each in records[1:] if each["payload"]["key"] == first["payload"]["key"]
    )
    page.goto(f"{server.url}/inspect?timeline=kip848-basic&entry={entry}")
    page.get_by_role("link", name="Compare with the one before").click()
    page.wait_for_url(f"**/inspect?timeline=kip848-basic&entry={entry}&against=*")
    before = first["sequence"]
    expect(page.locator("#says")).to_contain_text(f"From entry {before} to entry {entry}: member epoch")
    expect(page.locator("#says")).to_contain_text("→")
    expect(page.locator("#pair h3")).to_have_text([f"entry {before}", f"entry {entry}"])
    assert page.url.endswith(f"&against={before}")
    page.get_by_role("button", name="One", exact=True).click()
    page.wait_for_url(f"**/inspect?timeline=kip848-basic&entry={entry}")
    expect(row(page, "topicPartitions.0.partitions")).to_be_visible()
    page.goto(page.url.replace(f"entry={entry}", f"entry={before}"))
    expect(page.locator("#before")).to_have_text("This key has no earlier record in this timeline.")
    expect(page.get_by_role("link", name="Compare with the one before")).to_be_hidden()


def test_a_fields_value_is_copied_by_a_key_and_by_a_button(open_page: Open) -> None:
    page = open_page("/inspect")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    paste(page, WORKED)
    row(page, PARTITIONS).locator(".pt").nth(1).click()
    page.keyboard.press("y")
    expect(page.locator("#toast")).to_have_text("Copied partitions")
    assert page.evaluate("navigator.clipboard.readText()") == "1"
    row(page, "topics").locator(".nm").click()
    page.get_by_role("button", name="Copy value").click()
    expect(page.locator("#toast")).to_have_text("Copied topics")
    assert page.evaluate("navigator.clipboard.readText()") == '[\n  "foo"\n]'


def test_what_nothing_speaks_for_could_be_several_kinds(open_page: Open) -> None:
    page = open_page("/inspect")
    paste(page, "00 00 00 00")
    expect(page.locator("#guess")).to_contain_text("Could be")
    expect(page.locator("#guess")).to_contain_text("or User data of cooperative-sticky: no name, time")
    page.get_by_label("Bytes", exact=True).fill("00 00 00 05")
    expect(page.locator("#says")).to_contain_text("perhaps")
    expect(page.locator("#subtitle")).to_have_text("")


def test_what_cannot_be_read_says_where_and_keeps_what_was_there(open_page: Open) -> None:
    page = open_page("/inspect")
    paste(page, WORKED)
    kinds = page.get_by_role("combobox", name="Kind")
    failing = kinds.locator("option[disabled]").first
    reason = failing.get_attribute("title")
    assert reason
    page.get_by_text("Why nothing else").click()
    expect(page.locator(".whynot li").first).to_be_visible()
    expect(page.locator(".whynot")).to_contain_text(reason)
    page.get_by_label("Bytes", exact=True).fill("A" * (5 * 256 * 1024 + 1))
    expect(page.locator("#guess")).to_contain_text("262,144 bytes")
    expect(page.locator("#size")).to_have_text("36 bytes")
    page.get_by_role("link", name="Inspector").click()
    page.get_by_role("button", name="A subscription that was cut off").click()
    expect(row(page, PARTITIONS)).to_have_class("fr bad hot")
    expect(page.locator("#basis")).to_have_text("Stops at byte 38")


def test_a_link_carries_the_bytes_and_says_when_they_are_too_many(open_page: Open) -> None:
    page = open_page("/inspect")
    paste(page, WORKED)
    page.wait_for_url("**/inspect#kind=subscription&bytes=*")
    again = open_page(page.url.split("/", 3)[3].join(["/", ""]))
    expect(again.locator("#size")).to_have_text("36 bytes")
    paste(page, "00 " * 7000)
    expect(page.locator("#size")).to_have_text("7,000 bytes")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#toast")).to_contain_text("Too large for a link")


def test_of_a_large_blob_only_the_rows_in_sight_exist(open_page: Open) -> None:
    topics = "".join(f"0003666f6f00000001{number:08x}" for number in range(5000))
    page = open_page("/inspect")
    paste(page, f"0001 00000001 0003666f6f ffffffff {5000:08x} {topics}")
    expect(page.locator("#size")).to_have_text("65,019 bytes")
    page.get_by_role("treegrid").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(row(page, "ownedPartitions.4999.partitions")).to_have_attribute("aria-selected", "true")
    assert lit(page) == list(range(65011, 65019))
    assert page.locator(".hln").count() <= 45
    assert page.locator(".fr").count() <= 60
    page.locator("#hex").evaluate("grid => { grid.scrollTop = 30000; }")
    expect(page.locator('[data-b="27000"]')).to_be_visible()
    assert page.locator(".hln").count() <= 45


@pytest.fixture
def classic(server: Served) -> str:
    """The id of a timeline of a classic group."""
    command = [sys.executable, "-m", "tests.browser.seed", "classic"]
    return subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    ).stdout


def test_a_classic_groups_blobs_are_opened_in_place_from_the_boards_record(
    open_page: Open, classic: str
) -> None:
    page = open_page(f"/t/{classic}?at=1")
    page.get_by_role("button", name="Show bytes").click()
    page.get_by_role("treegrid").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    given = row(page, "members.0.assignment.assignedPartitions.0.partitions")
    expect(given).to_have_attribute("aria-selected", "true")
    assert page.locator(".inplace .by.lit").count() == 12
    expect(row(page, "members.0.assignment")).to_have_class("fr blob par")
    expect(page.locator(".inplace")).to_contain_text("This key has no earlier record in this timeline.")
    page.get_by_role("link", name="Open in the inspector").click()
    expect(page.locator("#says")).to_contain_text("came with foo-0, 1")
    expect(page.locator("#guess")).to_contain_text("__consumer_offsets-0, offset 0")
    page.get_by_role("button", name="Key", exact=True).click()
    expect(page.locator("#title")).to_have_text("Key of a record")
    page.get_by_role("link", name="Show on the board").click()
    page.wait_for_url(f"**/t/{classic}?at=1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wide_and_eight_bytes_stand_in_a_row(open_page: Open, scheme: str) -> None:
    page = open_page("/inspect", viewport=PHONE, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name="A classic group’s record").click()
    expect(page.locator(".fr").first).to_be_visible()
    assert page.locator(".hln").first.locator(".by").count() == 8
    # What a row says stands at the foot of the screen, wherever the bytes are.
    row(page, "leader").click()
    expect(page.locator("#lies")).to_be_in_viewport()
    expect(page.locator("#lies .full")).to_contain_text("computed the assignment: member 0 below")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
