"""The docs are true: links resolve, commands run, settings and record types are listed."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import IMPORT_SAMPLE, manage
from tests.house import ROOT
from tests.tiers import spread

PAGES = sorted(
    [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    ]
)


def headings(page: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_the_docs_resolves(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        aim = (page.parent / file).resolve() if file else page
        if not aim.exists() or (anchor and aim.suffix == ".md" and anchor not in headings(aim)):
            broken.append(target)
    assert broken == []


def test_every_page_of_the_docs_can_be_reached_from_its_index() -> None:
    index = (ROOT / "docs/README.md").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")} - {"README.md"}
    linked = set(re.findall(r"\]\(([\w/.-]+\.md)", index))
    assert linked == pages


def commands() -> list[tuple[str, str]]:
    """Lines of ``console`` blocks that begin with ``$ ``; a block that is not for every machine is ``sh``."""
    out = []
    for page in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            out += [
                (page.relative_to(ROOT).as_posix(), line[2:])
                for line in block.splitlines()
                if line.startswith("$ ")
            ]
    return out


@pytest.mark.parametrize(("page", "command"), spread(commands()))
def test_every_command_that_the_docs_show_runs(
    page: str, command: str, migrated_environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    program, *words = shlex.split(command.split(" | ")[0])
    assert program == "manage.py", (
        f"{page}: only manage.py commands stand in console blocks, this is {command!r}"
    )
    if tuple(words) == IMPORT_SAMPLE:
        done = request.getfixturevalue("imported_sample")
    else:
        done = manage(*words, environment=migrated_environment)
    assert done.returncode == 0, f"{page}: {command}\n{done.stderr[-800:]}"
    for line in done.stdout.splitlines():
        json.loads(line)


def test_the_reference_lists_every_record_type_that_is_decoded() -> None:
    from groups.wire.coordinator_schema import RECORD_TYPES

    page = (ROOT / "docs/reference/records.md").read_text()
    listed = {
        int(number): name for number, name in re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.MULTILINE)
    }
    assert listed == {number: record_type.name for number, record_type in RECORD_TYPES.items()}


def test_the_reference_lists_every_command() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text()
    listed = set(re.findall(r"^## `(\w+)`", page, re.MULTILINE))
    present = {
        path.stem
        for room in ("explorer", "groups", "simulations")
        for path in (ROOT / room / "management" / "commands").glob("[a-z]*.py")
    }
    assert listed == present


def scenarios() -> list[tuple[str, str]]:
    """The YAML blocks of the docs: each is a whole scenario, or a group's description to be rehearsed, which has no script."""
    out = []
    for page in PAGES:
        blocks = re.findall(r"^( *)```yaml\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL)
        out += [
            (page.relative_to(ROOT).as_posix(), "\n".join(line[len(indent) :] for line in block.splitlines()))
            for indent, block in blocks
            if not block.lstrip().startswith("clusters:")  # a file of clusters
        ]
    return out


@pytest.mark.parametrize(("page", "text"), scenarios())
def test_every_scenario_that_the_docs_show_runs(page: str, text: str) -> None:
    from simulations.rehearsal.judging import answer
    from simulations.rehearsal.question_yaml import question_of
    from simulations.world.engine import run
    from simulations.world.scenario import load

    if "script:" not in text:
        assert answer(question_of(text))["outcome"] == "done"
        return
    assert sum(1 for _ in run(load(text), "kafka", 1)) > 10


def test_the_reference_lists_every_verb_event_key_and_preset_of_scenarios() -> None:
    from simulations.world.scenario import Event
    from simulations.world.scenario.config import CONFIG_KEYS
    from simulations.world.scenario.environment import WORLDS
    from simulations.world.scenario.members import MEMBER_KEYS
    from simulations.world.scenario.network import NETWORK_KEYS
    from simulations.world.scenario.scenario_yaml import KEYS
    from simulations.world.scenario.start import KEYS as START_KEYS
    from simulations.world.scenario.topics import TOPIC_KEYS
    from simulations.world.scenario.verbs import FORMS

    words = set(re.findall(r"[`\[{ ](\w+)[`:]", (ROOT / "docs/reference/scenarios.md").read_text()))
    keys = {*KEYS, *CONFIG_KEYS, *MEMBER_KEYS, *NETWORK_KEYS, *START_KEYS, *TOPIC_KEYS}
    of_verbs = {key for form in FORMS.values() for key in form.keys}
    assert {str(word) for word in (*FORMS, *Event, *WORLDS, *keys, *of_verbs)} - words == set()


def test_the_reference_lists_the_verbs_and_events_in_rows_and_no_others() -> None:
    from simulations.world.scenario import Event
    from simulations.world.scenario.verbs import FORMS

    page = (ROOT / "docs/reference/scenarios.md").read_text()
    for head, known in (("| verb |", FORMS), ("| event |", tuple(Event))):
        table = page[page.index(head) :].split("\n\n")[0]
        first = [row.split(" | ")[0] for row in table.splitlines()[2:]]
        listed = [word for cell in first for word in re.findall(r"`(\w+)`", cell)]
        assert sorted(listed) == sorted(map(str, known))


def test_the_simulators_page_names_every_verb_and_no_other() -> None:
    from explorer.pages.runs.views import VERBS
    from simulations.world.scenario.verbs import FORMS

    named = [verb for verbs in VERBS.values() for verb, _ in verbs]
    assert sorted(named) == sorted(FORMS)


def lessons_shown() -> list[tuple[str, str]]:
    """The ``yml`` blocks of the docs: each is a whole lesson."""
    out = []
    for page in PAGES:
        blocks = re.findall(r"^( *)```yml\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL)
        out += [
            (page.relative_to(ROOT).as_posix(), "\n".join(line[len(indent) :] for line in block.splitlines()))
            for indent, block in blocks
        ]
    return out


@pytest.mark.parametrize(("page", "text"), lessons_shown())
def test_every_lesson_that_the_docs_show_is_right(page: str, text: str) -> None:
    from simulations.courses import Bundled
    from simulations.lessons import problems, read_lesson

    assert [str(problem) for problem in problems(read_lesson(text), Bundled())] == []


def test_the_reference_lists_every_key_shape_and_reference_of_lessons() -> None:
    from simulations.courses import Bundled
    from simulations.lessons import hands, lesson_yaml, references

    words = set(re.findall(r"[\w-]+", (ROOT / "docs/reference/lessons.md").read_text()))
    keys = {
        *lesson_yaml.KEYS, *lesson_yaml.BEAT_KEYS, *lesson_yaml.ASK_KEYS, *lesson_yaml.OPTION_KEYS, *lesson_yaml.TABLE_KEYS,
        *lesson_yaml.ROW_KEYS, *lesson_yaml.SHAPES, *Bundled().logs(),
    }  # fmt: skip
    asked = {
        *references.OF_MEMBERS, *references.OF_THE_GROUP, *references.OF_PARTITIONS, *references.OF_TOPICS,
        *hands.ASSIGNORS, *hands.MEASURES,
    }  # fmt: skip
    assert {str(word) for word in (*keys, *asked)} - words == set()
