"""Questions that a child process answers within minutes, as they are stored: a row, the child, and a lease."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from django.utils import timezone

from groups.jobs.children import ChildFailed, ParentStops, run_child
from groups.jobs.leases import Leases, Watch, end_of_lease
from groups.packs.listed_summary import plain
from groups.reserve import makes_room
from simulations.models import LongQuestion

Status = LongQuestion.Status
OPEN: Final = (Status.WAITING, Status.RUNNING)


class NoSuchQuestion(Exception):
    def __init__(self, what: str, question_id: str) -> None:
        super().__init__(f"There is no {what} {question_id!r}.")


class CannotAsk(Exception):
    """Why a row is no question for the child: a sentence without its full stop."""


Q = TypeVar("Q", bound=LongQuestion)


@dataclass(frozen=True, slots=True)
class LongQuestions(Generic[Q]):
    """The rows of a model. ``what`` one is called; ``child`` is the module that answers ``question(row)``.

    The child writes ``progress`` with facts of the row, and last ``done`` or ``error``.
    """

    model: type[Q]
    what: str
    child: str
    question: Callable[[Q], Mapping[str, Any]]

    @property
    def leases(self) -> Leases:
        return Leases(self.model)

    def get(self, question_id: str) -> Q:
        found = self.model._default_manager.filter(pk=question_id).first()
        if found is None:
            raise NoSuchQuestion(self.what, question_id)
        return found

    def open_count(self) -> int:
        """How many wait or run."""
        return self.model._default_manager.filter(status__in=OPEN).count()

    def perform(self, question_id: str) -> Q:
        """Runs a waiting question to its end. Does nothing if it is taken."""
        if not self.leases.take(question_id, stage="It begins"):
            return self.get(question_id)
        outcome = (Status.FAILED, f"The {self.what} ended without its answer.")
        try:
            watch = Watch(lambda: self._held(question_id, lease_until=end_of_lease()))
            question = self.question(self.get(question_id))
            for message in run_child(self.child, question=question, cancelled=watch):
                match message.pop("type"):
                    case "progress":
                        self._held(question_id, **plain(message), lease_until=end_of_lease())
                    case "error":
                        outcome = (Status.FAILED, str(message["message"]))
                    case "done":
                        outcome = (Status.COMPLETE, "")
        except CannotAsk as error:
            outcome = (Status.FAILED, f"{error}.")
        except ParentStops:
            outcome = (Status.INTERRUPTED, "The server was stopped meanwhile.")
        except ChildFailed as error:
            outcome = (Status.FAILED, str(error))
        self._finish(question_id, *outcome)
        return self.get(question_id)

    def _held(self, question_id: str, **facts: object) -> bool:
        """Stores facts of a running question; false if it was cancelled or deleted."""
        return bool(self.model._default_manager.filter(pk=question_id, status=Status.RUNNING).update(**facts))

    @makes_room
    def _finish(self, question_id: str, status: str, problem: str) -> None:
        ended = {"stage": "", "finished": timezone.now(), "lease_until": None}
        self._held(question_id, status=status, problem=problem, **ended)

    @makes_room
    def cancel(self, question_id: str) -> bool:
        """Stops it and keeps what is there. False if it had ended. Its task notices within a second."""
        open_rows = self.model._default_manager.filter(pk=question_id, status__in=OPEN)
        return bool(
            open_rows.update(status=Status.CANCELLED, stage="", finished=timezone.now(), lease_until=None)
        )

    def interrupt(self, question_id: str) -> None:
        """Reports a lost running question as interrupted."""
        self.leases.interrupt(
            question_id, Status.INTERRUPTED, "Its worker was cut short; ask again.", stage=""
        )
