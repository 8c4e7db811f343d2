"""What a reader does on a page before it is looked at."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from tests.browser import large


def open_sharing(page: Page) -> None:
    page.get_by_role("button", name="Share").click()
    page.locator("#share-names td").first.wait_for()


def open_keys(page: Page) -> None:
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()


def choose_unread(page: Page) -> None:
    """The card of a partition that was not read for a while, at the moment that is open."""
    page.locator('.chip[data-key="orders-3"]').first.click()
    page.locator('#partition [data-part="consumed"]').wait_for()
    page.locator("#partition").scroll_into_view_if_needed()


def open_menu(page: Page) -> None:
    """Where the bar has no room for the names of all pages."""
    if (menu := page.locator(".menu > summary").last).is_visible():
        menu.click()


def open_causes(page: Page) -> None:
    page.locator("#patterns > summary").click()
    page.locator(".patterns-body").wait_for()


def open_figure(page: Page) -> None:
    """The figure of epochs, as a table, too, and Kafka's metrics."""
    page.locator("#figure-panel").scroll_into_view_if_needed()
    page.locator("#figure-zoom").click()
    page.wait_for_selector("#figure[data-ready=plotly]")
    page.get_by_text("As a table").click()
    for panel in ("#lag-panel", "#assignment-panel", "#metrics-panel"):
        if page.locator(panel).count():
            page.locator(f"{panel} > summary").click()
    page.locator("#metrics table").first.wait_for()
    page.locator("#figure-panel").evaluate("panel => panel.scrollIntoView({block: 'start'})")


def find_member(page: Page) -> None:
    """A member found by its name, and its lane opened."""
    page.keyboard.press("/")
    page.keyboard.type(large.name_of(large.JOINS_LAST))
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.locator(".mlane").wait_for()


def open_first_row(page: Page) -> None:
    row = page.locator('.mgrid [tabindex="0"]')
    row.focus()
    page.keyboard.press("Enter")
    page.locator(".mlane").wait_for()


def group_by_host(page: Page) -> None:
    """Members in groups of their hosts."""
    page.get_by_label("Group rows").select_option("host")


def show_partitions(page: Page) -> None:
    page.get_by_role("button", name="Partitions", exact=True).click()


def go_to_violation(page: Page) -> None:
    page.get_by_role("link", name="Go there").click()
    page.locator("#now.bad").wait_for()


def open_record(page: Page) -> None:
    """A classic group's record, with the partitions that a member came with lit up."""
    page.get_by_role("button", name="A classic group’s record").click()
    field(page, "members.0.subscription.ownedPartitions.0.partitions").locator(".nm").click()


def edit_record(page: Page) -> None:
    open_record(page)
    field(page, "members.0.assignment.assignedPartitions.0.partitions").dblclick()
    page.get_by_label("partitions, array int32").fill("0 1 5")
    page.keyboard.press("Enter")
    page.get_by_text("6 bytes changed").wait_for()


def compare_members(page: Page) -> None:
    open_record(page)
    page.get_by_role("button", name="Compare two").click()
    page.get_by_role("row", name="ownedPartitions[0].partitions").click()


def paste_nonsense(page: Page) -> None:
    page.locator("#text").fill("not bytes at all, xyz")
    page.wait_for_timeout(400)


PASTES = """text => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def pasted(page: Page, text: str) -> Locator:
    """Pastes a text into the editor in the place of what is there."""
    editor = page.get_by_role("textbox", name="Scenario", exact=True)
    editor.press("Control+a")
    page.evaluate(PASTES, text)
    return editor


def run_nonsense(page: Page) -> None:
    """A scenario with a mistake, which is answered at its line."""
    pasted(
        page,
        "topics: {foo: {partitions: 3}}\nmembers: {A: {subscribe: [foo]}}\nscript:\n  - {at: 0s, jion: A}\nuntil: 10s",
    )
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".refused").first.wait_for()


def ask_a_silent_cluster(page: Page) -> None:
    """Nothing listens there: the wizard says so at the step at which it found out."""
    page.fill("[name=name]", "prod-eu")
    page.fill("[name=servers]", "127.0.0.1:1")
    page.click("#test")
    page.locator("#steps li.failed").wait_for()


def field(page: Page, path: str) -> Locator:
    """The row of a field, which on a small screen is made only once the rows are scrolled to it."""
    row = page.locator(f'.fr[data-path="{path}"]')
    page.locator(".fr").first.wait_for()
    for _ in range(40):
        if row.count():
            break
        page.locator("#fields").evaluate("fields => { fields.scrollTop += 200; }")
        page.wait_for_timeout(50)
    return row
