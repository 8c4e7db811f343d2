"""A broker being the group's coordinator: what it handles, and how each operation takes effect and is reported.

An operation (a request, a timer, a background result) is handled when it arrives: the shard's memory moves, timers
start. It takes effect when the log has its records: only then they stand in the run's log, with the timers that the
operation started and its answer behind them (``PartitionLog``). A request's own entry has the time of its handling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from groups.history.entries import Kind
from groups.history.state.group import Semantics
from simulations.protocol.coordinator.batch_size import RecordTooLarge
from simulations.protocol.coordinator.classic.join_requests import GivenId
from simulations.protocol.coordinator.consumer import regexes
from simulations.protocol.coordinator.consumer.outcome import Outcome, Resolution, ResolveRegexes
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import ASSIGNMENT, TimerStart
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommitAnswer, HeartbeatAnswer, OffsetCommit
from simulations.world.engine.in_flight import InFlightRequest
from simulations.world.engine.log import COORDINATOR
from simulations.world.engine.operation import Operation
from simulations.world.engine.partition_log import AppendedBatch, PartitionLog
from simulations.world.engine.queue import Priority
from simulations.world.engine.request_events import HEARTBEAT, is_fast_path, seen_in_request
from simulations.world.engine.requests import APIS, Answer, Park, handled
from simulations.world.engine.step_events import Seen
from simulations.world.engine.timers import Notice, Timers
from simulations.world.scenario import Event

if TYPE_CHECKING:
    from simulations.world.engine.simulation import Simulation

RETRY_MS: Final = 500
"""After so long a timer's operation is tried again that could not be written (``CoordinatorRuntime``)."""


class CoordinatorRuntime:
    """One broker's time as the coordinator: ``shard`` is its memory, ahead of what is committed."""

    def __init__(
        self,
        world: Simulation,
        shard: Shard,
        partition: PartitionLog,
        *,
        regex_ms: int,
        clock_ms: int,
    ) -> None:
        self.shard = shard
        self.partition = partition
        self.clock_ms = clock_ms
        """How far the broker's clock is ahead of the world's; its timers run by another that never jumps."""
        self.loading = False
        self.timers = Timers(world.queue, world.log, self._expired)
        self._world = world
        self._queue = world.queue
        self._log = world.log
        self._regex_ms = regex_ms
        self._over = False
        self._unanswered: dict[InFlightRequest, None] = {}
        self._parked: dict[int, InFlightRequest] = {}
        """Requests of the classic protocol that wait for other members, by ticket."""
        self._steady: dict[str, tuple[Outcome[Answer], Mapping[str, object]]] = {}
        """Of each member the last steady outcome that may come again, and what its request's entry contained."""

    @property
    def now_ms(self) -> int:
        """The broker's clock, whose times are in records."""
        return self._queue.now_ms + self.clock_ms

    def end(self) -> list[InFlightRequest]:
        """Another broker is the coordinator from here on; the requests that were not answered."""
        self._over = True
        self.timers.forget()
        return list(self._unanswered)

    def loaded(self, cause: int) -> None:
        """The log has been read: timers start, and what comes next is handled."""
        self.loading = False
        outcome = self.shard.loaded(self.now_ms)
        # The timers of members that are in the log already wait for no record, even where loading writes some.
        for notice in self._timed(outcome):
            self.timers.record(notice, cause)
        self._add(Operation(outcome, [], cause, seen=((Event.LOADED, None),)))

    def operate(
        self,
        handle: Callable[[Shard, int], Outcome[object]],
        cause: int | None,
        *events: Seen,
        begins: Callable[[], int] | None = None,
    ) -> None:
        """An operation that no client waits for; ``begins`` writes the entry that causes it, when it takes effect."""
        outcome = handle(self.shard, self.now_ms)
        self._add(Operation(outcome, self._timed(outcome), cause, begins=begins, seen=events))

    def handle(self, exchange: InFlightRequest) -> None:
        """A request has arrived."""
        request = exchange.request
        api = APIS[type(request)]
        if self.loading:
            self.turn_away(exchange, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            return
        if api.park is not None:
            self._park(exchange, api.park)
            return
        try:
            outcome = self._handled(exchange)
        except RecordTooLarge as failure:
            self._fail(exchange, failure)
            return
        before = self._steady.get(exchange.member_id)
        if before is not None and before[0] is outcome and self.partition.idle and not exchange.scripted:
            self._beats(exchange, outcome, before[1])
            return
        steady = is_fast_path(request, outcome) and not exchange.scripted
        payload = _request_payload(exchange)
        if steady:
            payload["steady"] = True
            if outcome.lasts_ms:
                self._steady[exchange.member_id] = outcome, payload
        entry = self._log.write(
            Kind.REQUEST, exchange.member_id, self._queue.now_ms, payload, cause=exchange.cause
        )
        if steady:
            self._begin_tasks(outcome.tasks, entry)
            for command in outcome.timers:
                assert isinstance(command, TimerStart)
                self.timers.restart_quietly(command, entry)
            if self.partition.idle:
                self._answer_fast_path(exchange, outcome, entry)
            else:
                self._wait(exchange, entry)
                self.partition.add((), lambda _: self._answer_fast_path(exchange, outcome, entry), _nothing)
            return
        known = seen_in_request(exchange, outcome)
        self._wait(exchange, entry)
        self._add(Operation(outcome, self._timed(outcome), entry, exchange=exchange, seen=known))

    def _handled(self, exchange: InFlightRequest) -> Outcome[Answer]:
        """What the coordinator does about a request; of a commit only what the broker passes on."""
        request, shard, now_ms = exchange.request, self.shard, self.now_ms
        if not isinstance(request, OffsetCommit):
            return handled(shard, request, now_ms, exchange.member_id)
        asked, exchange.answered = self._world.access.passed_on(exchange.process.name, request)
        if not asked.offsets:
            return Outcome(answer=CommitAnswer(error_codes=()))
        return handled(shard, asked, now_ms, exchange.member_id)

    def _fail(self, exchange: InFlightRequest, failure: RecordTooLarge) -> None:
        """One batch cannot hold the records: nothing of it was, but for the session timers of members."""
        entry = self._write_request(exchange)
        for command in failure.outcome.timers:
            if self.timers.runs(command.timer, command.member_id) and isinstance(command, TimerStart):
                notice = self.timers.apply(command)
                if notice is not None:
                    self.timers.record(notice, entry)
        self.refuse(exchange, ErrorCode.UNKNOWN_SERVER_ERROR, entry)

    def _park(self, exchange: InFlightRequest, park: Park) -> None:
        """A request that waits for others: whichever operation lets it go has its answer, under its entry as a ticket."""
        request = exchange.request
        entry = self._write_request(exchange)
        self._wait(exchange, entry)
        self._parked[entry] = exchange
        try:
            outcome = park(self.shard, request, self.now_ms, entry, GivenId(exchange.member_id))
        except RecordTooLarge as failure:
            self._fail_parked(exchange, failure, entry)
            return
        self._add(Operation(outcome, self._timed(outcome), entry))
        if exchange in self._unanswered:
            self._world.waits(exchange)

    def _fail_parked(self, exchange: InFlightRequest, failure: RecordTooLarge, entry: int) -> None:
        """A join is refused alone; where it is the leader's assignment, all who wait hear of it, and join again."""
        if failure.outcome.follow_up is None:
            del self._parked[entry]
            self.refuse(exchange, ErrorCode.UNKNOWN_SERVER_ERROR, entry)
            return
        for outcome in self.shard.append_failed(failure.outcome, self.now_ms):
            self._add(Operation(outcome, self._timed(outcome), entry))

    def _let_go(self, operation: Operation) -> None:
        """Answers what the operation lets go, at once: none of it waits for records."""
        if operation.begins is not None:
            operation.cause, operation.begins = operation.begins(), None
        for answer in operation.outcome.parked_answers:
            exchange = self._parked.pop(answer.ticket, None)
            if exchange is not None:
                self._respond(exchange, answer.answer, operation.cause)

    def _beats(
        self, exchange: InFlightRequest, outcome: Outcome[Answer], payload: Mapping[str, object]
    ) -> None:
        """A steady heartbeat that is the last one again, and so is its entry, but for the time."""
        entry = self._log.write_fast_path(
            exchange.member_id, self._queue.now_ms, payload, cause=exchange.cause
        )
        for command in outcome.timers:
            assert isinstance(command, TimerStart)
            self.timers.restart_quietly(command, entry)
        self._answer_fast_path(exchange, outcome, entry)

    def turn_away(self, exchange: InFlightRequest, code: ErrorCode) -> None:
        """Answers at once, without a look at the request."""
        self.refuse(exchange, code, self._write_request(exchange))

    def refuse(self, exchange: InFlightRequest, code: ErrorCode, entry: int) -> None:
        """Answers a request, whose entry is given, with this error alone; of a commit what ACLs deny is answered by the broker itself."""
        request = exchange.request
        if isinstance(request, OffsetCommit) and code is not ErrorCode.GROUP_AUTHORIZATION_FAILED:
            request, exchange.answered = self._world.access.passed_on(exchange.process.name, request)
        self._respond(exchange, APIS[type(request)].refuse(request, code), entry)

    def _write_request(self, exchange: InFlightRequest) -> int:
        """The entry of a request."""
        now_ms, cause = self._queue.now_ms, exchange.cause
        return self._log.write(
            Kind.REQUEST, exchange.member_id, now_ms, _request_payload(exchange), cause=cause
        )

    def _wait(self, exchange: InFlightRequest, entry: int) -> None:
        """The answer may have to wait for the log."""
        exchange.entry = entry
        self._unanswered[exchange] = None

    def _answer_fast_path(self, exchange: InFlightRequest, outcome: Outcome[Answer], entry: int) -> None:
        self._unanswered.pop(exchange, None)
        self._world.settled((HEARTBEAT, exchange.member_id))
        self._world.reply(exchange, outcome.answer, entry)

    def _expired(self, notice: Notice, *, again: bool = False) -> None:
        timer, member_id = notice.key
        try:
            outcome = self.shard.expired(timer, member_id, notice.timer.bound_epoch, self.now_ms)
        except RecordTooLarge as failure:
            if not again:
                note = {"note": "not_written", "says": str(failure)}
                self._log.write(Kind.NOTE, COORDINATOR, self._queue.now_ms, note)
            # An operation that fails is tried again, and again.
            at_ms = self._queue.now_ms + RETRY_MS
            self._queue.plan(
                at_ms, Priority.TIMER, lambda: None if self._over else self._expired(notice, again=True)
            )
            return

        def fired() -> int:
            return self.timers.record(notice, notice.timer.started or None)

        self._add(Operation(outcome, self._timed(outcome), begins=fired))

    def _timed(self, outcome: Outcome[object]) -> list[Notice]:
        """Runs the timer commands; returns their entries. Tasks begin, too."""
        notices = []
        for command in outcome.timers:
            if command.timer == ASSIGNMENT and self.timers.runs(ASSIGNMENT, None):
                # The computation that is under way takes what it finds when it is done.
                continue
            notice = self.timers.apply(command)
            if notice is not None:
                notices.append(notice)
        return notices

    def _begin_tasks(self, tasks: Sequence[ResolveRegexes], cause: int | None) -> None:
        for task in tasks:
            visible = self._world.access.visible(task.member_id.partition("~")[0], self.shard.image)
            resolution = regexes.resolve(task, visible, self.now_ms)

            def resolved(resolution: Resolution = resolution) -> None:
                if not self._over:
                    self.operate(lambda shard, now_ms: shard.regexes_resolved(resolution, now_ms), cause)

            self._queue.plan(self._queue.now_ms + self._regex_ms, Priority.TIMER, resolved)

    def _add(self, operation: Operation) -> None:
        self._begin_tasks(operation.outcome.tasks, operation.cause)
        if operation.outcome.parked_answers:
            self._let_go(operation)
        operation.matched = self.shard.matched()
        self.partition.add(
            operation.outcome.records,
            lambda batch: self._take_effect(operation, batch),
            lambda batch: self._survive(operation, batch),
        )
        exchange = operation.exchange
        if exchange is not None and exchange in self._unanswered:
            self._world.waits(exchange)

    def _survive(self, operation: Operation, batch: AppendedBatch | None) -> None:
        """The records reached the next coordinator; whatever else the operation did went with this one."""
        outcome, cause = operation.outcome, operation.cause
        # What these or later records are the effect of: without it nobody could understand them.
        if operation.begins is not None:
            cause = operation.begins()
        if outcome.records:
            self._note_matched(operation.matched, cause)
            self._log.write_unit(outcome.records, self._queue.now_ms, cause=cause, batch=batch)
            self._world.appended(outcome.records)

    def _take_effect(self, operation: Operation, batch: AppendedBatch | None) -> None:
        outcome, cause = operation.outcome, operation.cause
        if operation.begins is not None:
            cause = operation.begins()
        self._note_matched(operation.matched, cause)
        last = cause
        if outcome.records:
            last = self._log.write_unit(outcome.records, self._queue.now_ms, cause=cause, batch=batch)
            self._world.appended(outcome.records)
        for notice in operation.notices:
            # The target is computed because of the new epoch; sessions run because of the request.
            self.timers.record(notice, last if notice.key[0] == ASSIGNMENT else cause)
        if operation.exchange is None:
            self._world.settled(*operation.seen)
        else:
            self._respond(operation.exchange, outcome.answer, cause, *operation.seen)
        if outcome.follow_up is not None:
            after = self.shard.appended(outcome.follow_up, self.now_ms)
            self._add(Operation(after, self._timed(after), last))

    def _note_matched(self, matched: Mapping[str, tuple[str, ...]], cause: int | None) -> None:
        """The proposal's coordinator resolves expressions whenever it needs to, and writes nothing of it."""
        known = self._log.state.consumer.regexes
        if self.shard.semantics is Semantics.KAFKA or not (known or matched):
            return
        changed: dict[str, list[str] | None] = {
            regex: list(topics)
            for regex, topics in matched.items()
            if regex not in known or known[regex].topics != topics
        }
        changed |= {regex: None for regex in known if regex not in matched}
        if changed:
            payload = {"note": "regexes", "regexes": changed}
            self._log.write(Kind.NOTE, COORDINATOR, self._queue.now_ms, payload, cause=cause)

    def _respond(self, exchange: InFlightRequest, answer: Answer, cause: int | None, *events: Seen) -> None:
        self._unanswered.pop(exchange, None)
        if isinstance(answer, CommitAnswer) and exchange.answered.error_codes:
            # What was refused before the coordinator was asked comes first.
            before = exchange.answered
            answer = CommitAnswer(
                error_codes=(*before.error_codes, *answer.error_codes), names=before.names | answer.names
            )
        request, now_ms = exchange.request, self._queue.now_ms
        payload = {
            "api": APIS[type(request)].name,
            "version": request.version,
            "to": exchange.member_id,
            "body": answer.body(),
        }
        if isinstance(answer, HeartbeatAnswer) and answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            # Every broker answers so by itself, whichever of them is the coordinator.
            payload["broker"] = exchange.broker
        if exchange.entry and exchange.entry != cause and APIS[type(request)].park is not None:
            # What lets a parked answer go is its cause; another field names the request that it answers.
            payload["request"] = exchange.entry
        entry = self._log.write(Kind.RESPONSE, COORDINATOR, now_ms, payload, cause=cause)
        self._world.settled(*events)
        self._world.reply(exchange, answer, entry)


def _request_payload(exchange: InFlightRequest) -> dict[str, object]:
    """What the entry of a request has."""
    request = exchange.request
    payload = {"api": APIS[type(request)].name, "version": request.version, "body": request.body()}
    if exchange.scripted:
        payload["scripted"] = True
    return payload


def _nothing(_batch: AppendedBatch | None) -> None:
    """What a heartbeat that wrote nothing leaves when its coordinator is gone."""
