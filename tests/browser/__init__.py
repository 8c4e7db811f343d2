import pytest

# What it asserts is told in full, as in a test of its own.
pytest.register_assert_rewrite("tests.browser.board")
