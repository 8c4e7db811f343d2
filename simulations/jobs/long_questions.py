"""What a child process is asked, as it is stored: a row that waits, is held by a lease, and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from django.utils import timezone

from groups import storage
from groups.jobs.children import ChildFailed, ParentStops, run_child
from groups.jobs.leases import Leases, Watch, end_of_lease, end_of_wait
from groups.models import Job
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


J = TypeVar("J", bound=Job)
Q = TypeVar("Q", bound=LongQuestion)


@dataclass(frozen=True, slots=True)
class Jobs(Generic[J]):
    """The rows of a model with a ``status`` and a ``stage``. ``what`` one is called."""

    model: type[J]
    what: str

    @property
    def leases(self) -> Leases:
        return Leases(self.model)

    def get(self, question_id: str) -> J:
        found = self.model._default_manager.filter(pk=question_id).first()
        if found is None:
            raise NoSuchQuestion(self.what, question_id)
        return found

    def open_count(self) -> int:
        """How many wait or run."""
        return self.model._default_manager.filter(status__in=OPEN).count()

    @makes_room
    def cancel(self, question_id: str) -> bool:
        """Stops it and keeps what is there. False if it had ended. Its task notices within a second."""
        open_rows = self.model._default_manager.filter(pk=question_id, status__in=OPEN)
        return bool(
            open_rows.update(status=Status.CANCELLED, stage="", finished=timezone.now(), lease_until=None)
        )


@dataclass(frozen=True, slots=True)
class LongQuestions(Jobs[Q]):
    """Questions that are answered within minutes: ``child`` is the module that answers ``question(row)``.

    The child writes ``progress`` with facts of the row, and last ``done`` or ``error``.
    """

    child: str
    question: Callable[[Q], Mapping[str, Any]]

    def create(self, kept_most: int, like: Mapping[str, object], **facts: object) -> Q:
        """A question that waits. So many ``like`` it are kept: a new one removes the oldest that has ended."""
        ended = self.model._default_manager.filter(**like).exclude(status__in=OPEN)
        ended.exclude(pk__in=list(ended.values_list("pk", flat=True)[: kept_most - 1])).delete()
        waits = {"id": storage.new_id(), "stage": "Waiting for its turn", "lease_until": end_of_wait()}
        return self.model._default_manager.create(**{**waits, **like, **facts})

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

    def interrupt(self, question_id: str) -> None:
        """Reports a lost running question as interrupted."""
        self.leases.interrupt(
            question_id, Status.INTERRUPTED, "Its worker was cut short; ask again.", stage=""
        )
