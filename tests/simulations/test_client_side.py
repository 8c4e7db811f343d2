"""Assignors that run on a client, as KIP-848 proposes them: offered, chosen, run, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from simulations.assignor_files import AssignorFileError, client_assignors, load
from simulations.protocol.assignors import ASSIGNORS, AssignorError, GroupSpec, MemberSpec, Topic
from simulations.protocol.assignors.assignor_choice import (
    Choice,
    Preference,
    Reading,
    UnsupportedAssignorError,
    able_to_compute,
    choose,
)
from simulations.protocol.assignors.client_side import (
    ASSIGNMENT_ERROR,
    CLIENT_ASSIGNORS,
    FROM_CLASSIC,
    ClientAnswer,
    ClientAssignor,
    ClientGroup,
    ClientMember,
    ClientTopic,
    MemberAnswer,
    Metadata,
    Offer,
    OnGroup,
    install_problems,
)
from simulations.protocol.assignors.spec_document import answer_to

SERVER = ("uniform", "range")
EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "weighted_assignor.py"


def lists(*names: str) -> Preference:
    return Preference(client=tuple(Offer(name=name) for name in names))


def reads(low: int, high: int, version: int) -> Preference:
    return Preference(
        client=(Offer(name="x", minimum_version=low, maximum_version=high, metadata=Metadata(version)),)
    )


NAMES_RANGE, SAYS_NOTHING = Preference(server="range"), Preference()


@pytest.mark.parametrize(
    ("members", "chosen"),
    [
        ([SAYS_NOTHING], Choice("uniform")),
        ([NAMES_RANGE, SAYS_NOTHING, SAYS_NOTHING], Choice("range")),
        ([NAMES_RANGE, Preference(server="uniform")], Choice("uniform")),
        ([lists("x"), lists("x")], Choice("x", ("A", "B"))),
        # Not supported by all: "a server-side assignor is used otherwise".
        ([lists("x"), SAYS_NOTHING], Choice("uniform")),
        ([lists("x"), NAMES_RANGE], Choice("range")),
        # Each votes for the first of its list that all support; the first member decides a tie.
        ([lists("x", "y"), lists("y", "x"), lists("z", "y", "x")], Choice("y", ("A", "B", "C"))),
        ([lists("y", "x"), lists("x", "y")], Choice("y", ("A", "B"))),
    ],
)
def test_a_client_side_assignor_is_chosen_where_all_support_it_and_else_the_most_named_of_the_coordinator(
    members: list[Preference], chosen: Choice
) -> None:
    assert choose(dict(zip("ABC", members, strict=False)), SERVER) == chosen


def test_the_older_text_takes_the_server_side_assignor_that_a_member_names() -> None:
    # A coordinator that has both kinds from one member refuses it; two members may differ while a group is rolled.
    both = {"A": Preference(server="range", client=(Offer(name="x"),)), "B": lists("x")}
    assert choose(both, SERVER, Reading.SERVER_FIRST).name == "range"
    assert choose(both, SERVER, Reading.CLIENT_FIRST).name == "x"
    assert both["A"].problem() == "a member names a server-side assignor or lists client-side ones, not both"


def test_a_server_side_assignor_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(
        UnsupportedAssignorError, match=r"A asks for the assignor best; there are uniform, range"
    ):
        choose({"A": Preference(server="best")}, SERVER)


def test_only_a_member_that_reads_the_versions_of_all_may_compute() -> None:
    assert able_to_compute({"A": reads(0, 2, 2), "B": reads(1, 1, 1), "C": reads(1, 3, 2)}, "x") == ("A", "C")
    # Nobody reads both ends of a rolling upgrade that went too fast.
    assert able_to_compute({"A": reads(0, 1, 0), "B": reads(2, 3, 3)}, "x") == ()
    # A classic member counts as version -1.
    assert able_to_compute({"A": reads(FROM_CLASSIC, 0, FROM_CLASSIC), "B": reads(0, 1, 1)}, "x") == ()


@pytest.mark.parametrize(
    ("offer", "problem"),
    [
        (Offer(name="x"), None),
        (Offer(name=""), "an assignor's name must not be empty"),
        (Offer(name="x", minimum_version=-2), "x: the minimum version -2 is below -1"),
        (Offer(name="x", minimum_version=-1, maximum_version=-1), "x: the maximum version -1 is below 0"),
        (
            Offer(name="x", minimum_version=3, maximum_version=2),
            "x: the maximum version 2 is below the minimum version 3",
        ),
        (
            Offer(name="x", metadata=Metadata(version=1)),
            "x: the metadata's version 1 is not one of 0 to 0",
        ),
    ],
)
def test_what_a_heartbeat_lists_of_an_assignor_is_checked(offer: Offer, problem: str | None) -> None:
    assert offer.problem() == problem


GROUP = ClientGroup(
    epoch=7,
    members={
        "A": ClientMember(topics=("id1",), target={"id1": [0, 1, 2]}),
        "B": ClientMember(topics=("id1",)),
    },
    topics={"id1": ClientTopic(name="orders", partitions=3)},
)


def given(**members: Mapping[str, list[int]]) -> ClientAnswer:
    return ClientAnswer(members={name: MemberAnswer(partitions=told) for name, told in members.items()})


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        (given(A={"id1": [0, 1]}, B={"id1": [2]}), []),
        (given(A={"id1": [0, 1, 2]}), []),
        (given(A={"id1": [0, 1]}), ["orders-2 is given to nobody"]),
        (given(A={"id1": [0, 1]}, B={"id1": [1, 2]}), ["orders-1 is given to A and B"]),
        (given(A={"id1": [0, 1, 2]}, Z={}), ["Z is no member of the group"]),
        (given(A={"id1": [0, 1, 2], "id9": [0]}), ["id9-0 is given to A, but there is no topic id9"]),
    ],
)
def test_an_answer_is_checked_against_the_group_that_was_handed_out(
    answer: ClientAnswer, sentences: list[str]
) -> None:
    assert [problem.sentence for problem in install_problems(GROUP, answer)] == sentences


def test_metadata_that_a_member_does_not_read_are_refused() -> None:
    answer = ClientAnswer(members={"A": MemberAnswer(partitions={"id1": [0, 1, 2]}, metadata=Metadata(2))})
    told = install_problems(GROUP, answer, {"A": Offer(name="x", maximum_version=1)})
    assert [problem.sentence for problem in told] == ["the metadata for A are of version 2; it reads 0 to 1"]


def test_the_text_does_not_ask_whether_a_member_subscribes_to_what_it_is_given() -> None:
    group = ClientGroup(
        members={"A": ClientMember(topics=("id1",)), "B": ClientMember(topics=())}, topics=GROUP.topics
    )
    assert install_problems(group, given(B={"id1": [0, 1, 2]})) == []


@pytest.mark.parametrize("name", CLIENT_ASSIGNORS)
def test_each_classic_assignor_plans_the_same_on_a_client(name: str) -> None:
    spec = GroupSpec(
        members={
            "A": MemberSpec(topics=["T", "U"], owned={"T": [0, 1, 2], "U": [0, 1]}),
            "B": MemberSpec(topics=["T", "U"]),
        },
        topics={"T": Topic(partitions=3), "U": Topic(partitions=2)},
    )
    classic = ASSIGNORS["classic"][name]().assign(spec)
    planned = classic.members if classic.intended is None else classic.intended
    assert sets(OnGroup(CLIENT_ASSIGNORS[name]).assign(spec).members) == sets(planned)


def sets(assigned: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, set[int]]]:
    return {m: {t: set(told) for t, told in owned.items() if len(told)} for m, owned in assigned.items()}


def test_the_plan_of_cooperative_sticky_is_installed_whole_and_members_read_their_own_version_back() -> None:
    told = CLIENT_ASSIGNORS["cooperative-sticky"]().assign(
        ClientGroup(
            members={
                **GROUP.members,
                "B": ClientMember(topics=("id1",), metadata=Metadata(FROM_CLASSIC, b"?")),
            },
            topics=GROUP.topics,
        )
    )
    assert told.error == 0
    assert sorted(p for member in told.members.values() for p in member.partitions["id1"]) == [0, 1, 2]
    assert told.members["B"].metadata == Metadata(FROM_CLASSIC)


class Careless(ClientAssignor):
    name = "careless"
    answer: Any = None

    def assign(self, group: ClientGroup) -> ClientAnswer:
        return ClientAnswer(members={}) if self.answer is None else self.answer


def careless(told: Any) -> type[Careless]:
    return type("Told", (Careless,), {"answer": told})


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (None, "INVALID_ASSIGNMENT: T-0, 1 are given to nobody"),
        (
            ClientAnswer(members={"A": MemberAnswer(partitions={"T": [0, 1]})}, error=ASSIGNMENT_ERROR),
            "careless reports error 2",
        ),
        ("nothing", "careless failed: AttributeError: 'str' object has no attribute 'members'"),
    ],
)
def test_an_answer_that_may_not_be_installed_is_an_error_in_one_line(told: Any, sentence: str) -> None:
    spec = GroupSpec(members={"A": MemberSpec(topics=["T"])}, topics={"T": Topic(partitions=2)})
    with pytest.raises(AssignorError) as caught:
        OnGroup(careless(told)).assign(spec)
    assert str(caught.value) == sentence


def test_the_example_of_the_docs_gives_a_heavy_member_more_and_keeps_what_it_can() -> None:
    clients = client_assignors([EXAMPLE])
    heavy = {"subscribed_topics": ["T"], "user_data": "03"}
    spec = {
        "protocol": "consumer",
        "assignor": "client:weighted",
        "topics": {"T": {"partitions": 8}},
        "members": {"A": heavy, "B": {"subscribed_topics": ["T"]}},
    }
    before = answer_to(spec, clients=clients)
    assert (len(before["assignment"]["A"]["T"]), before["valid"]) == (6, True)
    spec["members"] = {m: {**spec["members"][m], "owned": before["assignment"][m]} for m in "AB"}  # type: ignore[index]
    assert answer_to(spec, clients=clients)["moved"] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = (", " line 1: SyntaxError"),
        ("import math\nraise ValueError('no')", " line 2: ValueError: no"),
        ("raise SystemExit(3)", " line 1: SystemExit: 3"),
        ("class Assignor: name = 'x'", ": no class Assignor that is a ClientAssignor"),
        (
            "from simulations.protocol.assignors.client_side import ClientAssignor\nclass Assignor(ClientAssignor): name = 'x'",
            ": Assignor has no assign",
        ),
        (
            "from simulations.protocol.assignors.client_side import ClientAssignor\nclass Assignor(ClientAssignor):\n  name = ''\n  assign = print",
            ": Assignor.name must be a text that is not empty",
        ),
        (
            "from simulations.protocol.assignors.client_side import ClientAssignor\nclass Assignor(ClientAssignor):\n  name = 'range'\n  assign = print",
            ": there is an assignor range already; give it another name",
        ),
    ],
)
def test_a_file_that_holds_no_assignor_is_refused_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(AssignorFileError) as caught:
        client_assignors([file])
    assert str(caught.value).startswith(f"{file}{said}")


def test_a_file_that_is_not_there_or_not_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssignorFileError, match=r"nowhere\.py: there is no such file"):
        load(tmp_path / "nowhere.py")
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(AssignorFileError, match=r"mine\.txt: not a Python file"):
        load(tmp_path / "mine.txt")
    with pytest.raises(CommandError, match=r"there is no such file"):
        call_command("assign", "-", "--assignor-file", str(tmp_path / "nowhere.py"))


def test_no_spec_can_bring_a_file_it_can_only_name_what_is_loaded() -> None:
    spec = {"protocol": "consumer", "assignor": f"client:{EXAMPLE}", "members": {}}
    with pytest.raises(ValueError, match="expected one of uniform, range, client:range"):
        answer_to(spec)
