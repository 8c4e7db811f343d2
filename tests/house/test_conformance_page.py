"""The page on conformance says what the tests with a real broker demand."""

from __future__ import annotations

from tests.broker.conformance_page import PAGE, page


def test_the_page_on_conformance_is_made_from_the_tests_tables() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.broker.conformance_page`"
