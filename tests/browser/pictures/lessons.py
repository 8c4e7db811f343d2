"""``python -m tests.browser.pictures.lessons [FOLDER] [SIZE…] [SCHEME…]``: lessons as who takes, gives and writes them sees them.

The handouts are also printed, to PDF, once.
"""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.pictures.camera import Camera, cameras

HANDOUTS = ("released-is-not-assigned", "by-hand-sticky", "incident-lag-on-two")


def main() -> None:
    with cameras("lessons") as found:
        for place, camera in enumerate(found):
            if place == 0:
                printed(camera)
            courses(camera)
            lesson(camera)
            by_hand(camera)
            quiz(camera)
            taken_over(camera)
            presented(camera)
            written(camera)


def choose(page: Page, *keys: str) -> None:
    for key in keys:
        page.locator(f'#ask [data-key="{key}"]').click()


def check(page: Page) -> None:
    page.locator("#check").click()
    page.locator("#answer").scroll_into_view_if_needed()


def press_next(page: Page) -> None:
    page.locator("#next").click()


def courses(camera: Camera) -> None:
    """The list, to somebody new, and to who has done a lesson and begun another."""
    with camera.opened("/lessons/") as page:
        camera.take(page, "courses", whole=True)
        page.evaluate(
            "localStorage.setItem('lessons', JSON.stringify({"
            "'a-group-shares-partitions': {beat: 3, reached: 3, done: true, answers: {}},"
            "'incident-lag-on-two': {beat: 2, reached: 2, done: true, answers: {}},"
            "'heartbeats': {beat: 2, reached: 2, done: false, answers: {}}}))"
        )
        page.reload()
        page.wait_for_selector("html[data-alive]")
        camera.take(page, "courses-begun")


def lesson(camera: Camera) -> None:
    """A beat, a question, a wrong answer with its reasons, the reveal, the end."""
    with camera.opened("/lessons/released-is-not-assigned") as page:
        camera.take(page, "beat", whole=True)
        press_next(page)
        press_next(page)
        choose(page, "A")
        check(page)
        press_next(page)
        camera.take(page, "question", whole=True)
        choose(page, "foo-2", "foo-5")
        check(page)
        camera.take(page, "wrong", whole=True)
        choose(page, "foo-5")
        check(page)
        camera.take(page, "reveal", whole=True)
        press_next(page)
        choose(page, "0")
        check(page)
        camera.take(page, "done", whole=True)
    with camera.opened("/lessons/eager-everybody-stops") as page:
        press_next(page)
        choose(page, "A", "B")
        check(page)
        camera.take(page, "classic", whole=True)


def by_hand(camera: Camera) -> None:
    with camera.opened("/lessons/by-hand-sticky") as page:
        camera.take(page, "by-hand", whole=True)
        for partition in ("orders-2", "orders-2", "orders-5"):
            page.locator(f'.pc[data-key="{partition}"]').click()
        check(page)
        camera.take(page, "by-hand-six", whole=True)


def quiz(camera: Camera) -> None:
    with camera.opened("/lessons/incident-lag-on-two") as page:
        camera.take(page, "quiz", whole=True)
        choose(page, "2")
        check(page)
        camera.take(page, "quiz-wrong", whole=True)
        page.locator("#reveal").click()
        camera.take(page, "quiz-answer", whole=True)


def taken_over(camera: Camera) -> None:
    with camera.opened("/lessons/released-is-not-assigned") as page:
        page.locator("#over").click()
        page.get_by_role("button", name="Add a member").click()
        page.locator('#board .lane[data-lane="C"]').wait_for()
        camera.take(page, "taken-over", whole=True)


def presented(camera: Camera) -> None:
    with camera.opened("/lessons/a-group-shares-partitions?presenter=1") as page:
        camera.take(page, "presenter", whole=True)


def written(camera: Camera) -> None:
    with camera.opened("/lessons/write?from=heartbeats") as page:
        page.get_by_text("No mistakes: the run bears out every fact.").wait_for()
        camera.take(page, "writing", whole=True)
        editor = page.get_by_label("The lesson’s YAML")
        editor.fill(editor.input_value().replace("A.count: 2,", "A.count: 5,", 1))
        page.get_by_text("1 mistake").wait_for()
        page.locator(".moments summary").click()
        camera.take(page, "writing-mistake", whole=True)


def printed(camera: Camera) -> None:
    for name in HANDOUTS:
        with camera.opened(f"/lessons/{name}/handout", alive=False) as page:
            page.pdf(path=camera.folder / f"handout-{name}.pdf", format="A4")
            camera.take(page, f"handout-{name}", whole=True)


if __name__ == "__main__":
    main()
