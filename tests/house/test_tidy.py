"""Rules of the house that a reader should not have to check."""

import re
import subprocess

import pytest

from tests.house import ROOT

TEXT = {".py", ".js", ".css", ".html", ".md", ".yaml", ".yml", ".toml", ".sh", ".json", ".xml", ".java", ""}
LARGEST_FILE_BYTES = 700_000  # pictures and recorded segments stay below, too
LOCKS = {"uv.lock", "package-lock.json"}
"""Programs write them, and read them alone."""


def tracked_files() -> list[str]:
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("not a git checkout")
    return [name for name in found.stdout.splitlines() if (ROOT / name).exists()]


def offences(pattern: str, *, suffixes: set[str] = TEXT) -> list[str]:
    expression = re.compile(pattern)
    out = []
    for name in tracked_files():
        path = ROOT / name
        if path.suffix not in suffixes or name in LOCKS or name == "tests/house/test_tidy.py":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if expression.search(line):
                out.append(f"{name}:{number}: {line.strip()[:100]}")
    return out


def test_no_line_carries_a_path_of_one_machine() -> None:
    assert offences(r"(?<![\w.])/(root|home/\w+|work|Users/\w+)/") == []


def test_nothing_is_left_for_later_in_the_code() -> None:
    assert (
        offences(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError)\b", suffixes={".py", ".js", ".css", ".html"})
        == []
    )


def test_digits_that_are_read_as_a_number_are_ascii() -> None:
    """``"²".isdigit()`` holds, and ``int("²")`` raises."""
    assert offences(r"^(?!.*isascii).*\.isdigit\(\).*\bint\((?!told\) if told)", suffixes={".py"}) == []


def test_pages_fetch_nothing_from_other_hosts() -> None:
    assert (
        offences(
            r"""(src|href)=["']https?://(?!www\.apache\.org|cwiki\.apache\.org|kafka\.apache\.org)""",
            suffixes={".html"},
        )
        == []
    )
    assert offences(r"""(@import|url\()\s*["']?https?://""", suffixes={".css"}) == []


NOT_OURS = {"static/vendor/plotly-basic.min.js"}
"""As Plotly publishes it: nobody reviews it, and a test holds its release against the package's."""


def test_no_file_is_larger_than_a_reviewer_can_take() -> None:
    large = {name for name in tracked_files() if (ROOT / name).stat().st_size > LARGEST_FILE_BYTES}
    assert large - LOCKS == NOT_OURS
