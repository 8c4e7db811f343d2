"""What lessons name of classic groups: the barrier, what is withheld, who reads; and why other answers are wrong."""

from __future__ import annotations

from functools import cache

import pytest

from simulations.lessons.document import Place
from simulations.lessons.explaining import Explainer
from simulations.lessons.playing import Run, play
from simulations.lessons.reasons import reason_text
from simulations.lessons.references import BadReference, Context, value_of
from simulations.lessons.sheets import cell_of
from simulations.lessons.values import plain
from simulations.world import studies


@cache
def run_of_study(name: str) -> Run:
    return play(studies.load(name))


def index_of(run: Run, step: int) -> int:
    return run.place(Place(line=1, field="", step=step), {})


def at_step(study: str, step: int, path: str) -> str:
    run = run_of_study(study)
    return plain(value_of(path, index_of(run, step), Context(run=run, marks={})))


def explainer(study: str, step: int, path: str) -> Explainer:
    run = run_of_study(study)
    frame = run.frames[index_of(run, step)]
    return Explainer(run, path, frame, frame)


def words(study: str, step: int, path: str, candidate: str) -> str:
    pieces = explainer(study, step, path).partition(candidate, right=False)
    return "".join(part["text"] for part in reason_text(pieces or []))


@pytest.mark.parametrize(
    ("step", "path", "expected"),
    [
        (2, "group.state", "PreparingRebalance"),
        (2, "group.joined", "C"),
        (2, "group.awaited", "A and B"),
        (6, "group.state", "CompletingRebalance"),
        (6, "group.awaited", "A"),
        (6, "group.unread", "nothing"),
        (7, "group.withheld", "orders-2 and orders-5"),
        (7, "C.withheld", "orders-2 and orders-5"),
        (7, "A.withheld", "nothing"),
        (7, "group.unassigned", "orders-2 and orders-5"),
        (7, "group.unread", "orders-2"),
        (10, "group.generation", "5"),
        (10, "group.leader", "A"),
        (10, "group.protocol_name", "cooperative-sticky"),
        (10, "group.awaited", "nobody"),
        (10, "group.behind", "nobody"),
    ],
)
def test_a_cooperative_rebalance_is_told_by_its_barrier_and_what_it_withholds(
    step: int, path: str, expected: str
) -> None:
    assert at_step("kip429-cooperative", step, path) == expected


def test_two_clients_that_read_the_same_are_found_by_what_they_read() -> None:
    assert at_step("kip341-two-owners", 8, "group.read_twice") == "orders-0, orders-1 and orders-2"
    assert at_step("kip341-two-owners", 8, "orders-0.readers") == "A and B~2"
    assert at_step("kip341-two-owners", 1, "group.read_twice") == "nothing"


def test_a_process_that_is_gone_reads_nothing() -> None:
    run = run_of_study("kip848-member-failure")
    killed = run.place(Place(line=1, field="", shape="fault", who="A"), {})
    context = Context(run=run, marks={})
    assert plain(value_of("group.unread", killed, context)) == "foo-0 and foo-1"
    assert plain(value_of("group.unassigned", killed, context)) == "nothing"


def test_a_consumer_group_has_no_barrier() -> None:
    assert at_step("kip848-basic", 10, "group.awaited") == "nobody"
    assert at_step("kip848-basic", 10, "group.withheld") == "nothing"
    assert at_step("kip848-basic", 10, "group.leader") == "nobody"


def test_of_what_no_client_told_nothing_is_said() -> None:
    run = run_of_study("kip429-eager")
    silent = Run(
        title=run.title, moments=run.moments, frames=tuple({**frame, "clients": None} for frame in run.frames),
        summary=run.summary, settings=None, scenario=None, ids=run.ids, names=run.names, chunk=run.chunk,
    )  # fmt: skip
    with pytest.raises(BadReference, match="does not tell what clients read"):
        value_of("group.unread", 3, Context(run=silent, marks={}))


def test_why_a_partition_is_no_answer_is_told_by_generations_and_not_by_targets() -> None:
    study = "kip429-cooperative"
    assert words(study, 7, "C.owned", "orders-2") == (
        "orders-2 is meant for C, but withheld in this round: its owner has to revoke it first."
    )
    assert words(study, 7, "C.owned", "orders-0") == "In generation 4 the leader has assigned orders-0 to A."
    assert words(study, 7, "group.unassigned", "orders-0") == "orders-0 is assigned to A in generation 4."
    assert words(study, 7, "group.withheld", "orders-0") == "orders-0 is not withheld: its owner is A."
    assert words(study, 7, "group.unread", "orders-5") == "orders-5 is read by B at this moment."
    assert words("kip429-eager", 3, "A.reads", "orders-0") == (
        "A had orders-0, and has revoked it to join: it reads it no more until it is assigned again."
    )


@pytest.mark.parametrize(
    ("step", "member", "says"),
    [
        (2, "A", "A has not sent its JoinGroup yet, and nobody is answered before it has."),
        (2, "C", "C has sent its JoinGroup, and waits at the barrier."),
        (6, "A", "A leads, and its SyncGroup with the assignment has not come yet."),
        (6, "B", "B has joined and does not lead: it waits for the assignment as well."),
        (10, "B", "No rebalance is under way: nobody waits for B."),
    ],
)
def test_who_is_waited_for_is_told_by_who_has_joined(step: int, member: str, says: str) -> None:
    pieces = explainer("kip429-cooperative", step, "group.awaited").someone(member, right=False)
    assert "".join(part["text"] for part in reason_text(pieces or [])) == says


def test_states_and_numbers_of_a_classic_group_have_explanations_of_their_own() -> None:
    state = explainer("kip429-cooperative", 2, "group.state")
    for other in ("Empty", "CompletingRebalance", "Stable"):
        assert state.state(other)
    assert state.state("Reconciling") is None
    number = explainer("kip429-cooperative", 10, "group.generation")
    assert "is over" in "".join(part["text"] for part in reason_text(number.number(4, 5) or []))
    assert "once more" in "".join(part["text"] for part in reason_text(number.number(6, 5) or []))


def test_a_cell_of_a_classic_member_has_the_generation() -> None:
    run = run_of_study("kip429-cooperative")
    assert cell_of(run.frames[index_of(run, 10)], "C") == "5 {2,5}"
