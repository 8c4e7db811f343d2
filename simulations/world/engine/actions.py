"""What a script makes happen: each verb done to the world at its time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from groups.history.entries import Kind
from groups.history.state.consumption import SECOND_MS, position_of
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer.computing import ComputingConsumer
from simulations.protocol.client.consumer.config import CloseOption
from simulations.protocol.messages.groups import (
    TRANSACTION_TOPIC_ID_VERSION,
    CommittedOffset,
    Partitions,
    TransactionalCommit,
)
from simulations.world.engine.client_assignors import (
    changed,
    classic_config_of,
    config_of,
    consumer_of,
    reported,
    topics_as_noted,
)
from simulations.world.engine.interventions import Interventions, producer_of
from simulations.world.engine.process import Process
from simulations.world.engine.queue import Priority
from simulations.world.engine.raw_sending import ScriptedSender, needs_id, own_fields, request_of
from simulations.world.scenario import Action, Event, How, Member, Verb
from simulations.world.scenario.access import Operation

if TYPE_CHECKING:
    from simulations.world.engine.simulation import Simulation

ENFORCED_IN_VAIN: Final = (
    "enforceRebalance() has no effect in the consumer protocol; the client logs a warning"
)
"""KIP-848, "KafkaConsumer", and Kafka as released; no request is sent."""

RECORDS_A_SECOND: Final = 10
"""What a consumer is taken to read from each partition, for commits that name no offset."""


class Acting:
    """Does the script's actions, and starts the members' processes."""

    def __init__(self, world: Simulation) -> None:
        self._world = world
        self.processes: dict[str, Process] = {}
        """The newest process of each member, by the scenario's name."""
        self.members: dict[str, Member] = dict(world.scenario.members)
        """What the next process of each is started with; a bounce changes it."""
        self._lives: dict[str, int] = {}
        self._starts: dict[str, int] = {}
        """The starts of each member so far: one that is still planned is off once another came before it."""
        self._interventions = Interventions(world, self.processes)

    def act(self, action: Action) -> None:
        """One line of the script, now."""
        if self._interventions.does(action):
            return
        process = self.processes.get(action.who)
        match action.verb:
            case Verb.JOIN:
                self._start(action.who)
            case Verb.RESTART:
                self._restart(action.who, process)
            case Verb.BOUNCE:
                self._bounce(action, process)
            case Verb.SLOW_REVOKE:
                assert action.length_ms is not None
                (process or self.new_process(action.who)).consumer.revoke_ms = action.length_ms
            case Verb.SEND:
                self._send(action, process)
            case Verb.FAIL_CALLBACK:
                (process or self.new_process(action.who)).raises = True
            case _ if process is not None and process.alive:
                self._to_process(action, process)

    def _to_process(self, action: Action, process: Process) -> None:
        """What chance has done to a member before may leave nothing to do."""
        consumer, now_ms = process.consumer, process.now_ms
        match action.verb:
            case Verb.LEAVE:
                process.follow(None)
                if action.how is None:
                    process.act(consumer.leave(now_ms), None)
                else:
                    process.act(consumer.close(now_ms, _CLOSES[action.how]), None)
            case Verb.HEARTBEAT:
                process.act(consumer.beat(now_ms), None)
            case Verb.SUBSCRIBE:
                regex = self.members[action.who].expression(action.regex)
                self._asks_for(process, action.topics, regex)
                if isinstance(consumer, ClassicConsumer):
                    subscribed = consumer.subscribe(action.topics, regex=regex, now_ms=now_ms)
                else:
                    subscribed = consumer.subscribe(action.topics, regex=regex)
                process.act(subscribed, None)
            case Verb.ENFORCE_REBALANCE if isinstance(consumer, ClassicConsumer):
                process.act(consumer.enforce_rebalance(action.reason_text, now_ms), None)
            case Verb.ENFORCE_REBALANCE:
                note = {"note": "log_line", "says": ENFORCED_IN_VAIN}
                self._world.log.write(Kind.NOTE, process.member_id, now_ms, note)
            case Verb.REPORT if isinstance(consumer, ComputingConsumer):
                consumer.bring(reported(consumer.assigning.assignors, action.reason, action.lags))
            case Verb.COMMIT:
                offsets = self._offsets(process, consumer.owned, action.offset)
                process.act(consumer.commit(offsets, now_ms), None)
            case Verb.COMMIT_IN_TRANSACTION:
                self._commit_in_transaction(action, process)
            case Verb.POLL_LATE:
                process.act(consumer.poll_late(action.length_ms, now_ms), None)
            case Verb.KILL:
                self.kill(process)
            case Verb.PAUSE if not process.paused:
                cause = self._fault(Event.PAUSE, process)
                process.pause()
                process.note_reading(cause)
            case Verb.RESUME if process.paused:
                cause = self._fault(Event.RESUME, process)
                process.resume()
                process.note_reading(cause)

    def _send(self, action: Action, process: Process | None) -> None:
        """The script sends a request in the member's name; no client hears of the answer."""
        assert action.request is not None
        world, ids = self._world, {name: topic.topic_id for name, topic in self._world.image.topics.items()}
        own = own_fields(world.scenario, self.members[action.who], process)
        request = request_of(action.request, own, ids, world.image, self.members[action.who])
        member_id = process.member_id if process is not None else action.who
        if needs_id(request):
            # The coordinator makes one.
            member_id = self._next_id(action.who)
        world.send_scripted(ScriptedSender(action.who, member_id, process), request)

    def _commit_in_transaction(self, action: Action, process: Process) -> None:
        """The application has its producer commit for the member (``sendOffsetsToTransaction``)."""
        world, consumer = self._world, process.consumer
        classic = isinstance(consumer, ClassicConsumer)
        epoch = consumer.generation if isinstance(consumer, ClassicConsumer) else consumer.epoch
        has_ids = world.shard.settings.release.rules.transactions_have_topic_ids
        request = TransactionalCommit(
            group_id=world.scenario.group,
            member_id=consumer.member_id if isinstance(consumer, ClassicConsumer) else process.member_id,
            member_epoch=epoch if epoch > 0 or classic else -1,
            instance_id=consumer.config.instance_id,
            offsets=self._offsets(process, consumer.owned, action.offset),
            version=TRANSACTION_TOPIC_ID_VERSION if has_ids else TRANSACTION_TOPIC_ID_VERSION - 1,
            transactional_id=action.who,
            producer_id=producer_of(world.scenario, action.who),
        )
        if request.offsets:
            world.send(process, request, None)

    def kill(self, process: Process) -> None:
        cause = self._fault(Event.KILL, process)
        process.kill()
        process.note_reading(cause)
        self._supervise(process.name)

    def _supervise(self, name: str) -> None:
        """Its supervisor, if it has one, starts it again unless something else has started it by then."""
        after_ms, started = self.members[name].restart_after_ms, self._starts.get(name, 0)
        if after_ms is None:
            return

        def start() -> None:
            if started == self._starts.get(name, 0):
                self._start(name)

        queue = self._world.queue
        queue.plan(queue.now_ms + after_ms, Priority.SCRIPT, start)

    def note_reading(self, cause: int | None) -> None:
        """Whom the network has cut off, or brought back, reads otherwise from here on."""
        for process in self.processes.values():
            process.note_reading(cause)

    def _restart(self, name: str, process: Process | None) -> None:
        if process is not None and process.alive:
            if _closes_first(process):
                process.follow(partial(self._start, name))
                process.act(process.consumer.leave(process.now_ms), None)
                return
            self.kill(process)
        self._start(name)

    def _bounce(self, action: Action, process: Process | None) -> None:
        """Closed and started again, perhaps set otherwise; who can close nothing any more just ends.

        Bounced again while it is down it starts once, at the later one's time.
        """
        name, down_ms = action.who, action.length_ms or 0
        self.members[name] = changed(self.members[name], action.changes)
        self._starts[name] = planned = self._starts.get(name, 0) + 1

        def start() -> None:
            if planned == self._starts[name]:
                self.new_process(name)
                self._start(name)

        def later() -> None:
            queue = self._world.queue
            queue.plan(queue.now_ms + down_ms, Priority.SCRIPT, start) if down_ms else start()

        if process is None or not process.alive:
            later()
        elif process.paused or not process.consumer.can_leave:
            self.kill(process)
            later()
        else:
            process.follow(later)
            process.act(process.consumer.close(process.now_ms), None)
            process.ended()

    def _start(self, name: str) -> None:
        """The member's process joins: its first one, one that left before, or a new one."""
        self._starts[name] = self._starts.get(name, 0) + 1
        process = self.processes.get(name)
        # A member that joins while its last process is still closing is a second process.
        if process is None or not process.alive or process.consumer.leaving or process.consumer.ended:
            process = self.new_process(name)
        member = self.members[name]
        regex = member.expression(member.regex)
        self._asks_for(process, member.subscribe, regex)
        process.act(process.consumer.join(member.subscribe, process.now_ms, regex=regex), None)

    def _asks_for(self, process: Process, names: tuple[str, ...], regex: str | None) -> None:
        """The checker hears of it from the application itself: no entry shows what nobody has sent."""
        log = self._world.log
        if log.checker is not None:
            log.checker.asks_for(process.member_id, names, regex, self._world.queue.now_ms)

    def new_process(self, name: str) -> Process:
        """A process for the member; from its second life on its id shows which life it is."""
        world = self._world
        member, member_id = self.members[name], self._next_id(name)

        def note(assignor: str, method: str, outcome: str) -> None:
            payload = {"note": "assignor_call", "says": f"{assignor}.{method}: {outcome}"}
            world.log.write(Kind.NOTE, process.member_id, world.queue.now_ms, payload)

        notes_call = note if member.assignor_calls else None
        if member.classic is not None:
            config_of_member = classic_config_of(
                world.scenario,
                member,
                member_id,
                lambda: topics_as_noted(world.access.visible(name, world.image)),
            )
            config_of_classic = replace(
                config_of_member,
                is_denied=lambda topic: not world.access.may(name, Operation.DESCRIBE, topic),
                positions=lambda owned, now_ms: self._offsets(process, owned, None),
                # Its assignors have other methods than KIP-341's.
                notes_call=None if config_of_member.release.librdkafka else notes_call,
                seed=world.seed,
            )
            process = Process(
                ClassicConsumer(config_of_classic),
                world.queue,
                world.log,
                world.send,
                lambda partitions: {topic: list(numbers) for topic, numbers in partitions.items()},
                lambda: self._next_id(name),
            )
            return self._follows(name, process)
        config = replace(
            config_of(world.scenario, name, member_id, world.semantics),
            auto_commit=member.auto_commit,
            auto_commit_interval_ms=member.auto_commit_interval_ms,
            fetches_offsets=member.fetch_offsets,
            positions=lambda owned, now_ms: self._offsets(process, owned, None),
            notes_call=notes_call,
            seed=world.seed,
        )
        consumer = consumer_of(config, member, world.semantics)
        process = Process(consumer, world.queue, world.log, world.send, world.by_name)
        return self._follows(name, process)

    def _follows(self, name: str, process: Process) -> Process:
        """The member's newest process; where topics have rates it reports what it reads."""
        world = self._world
        if world.rates:
            process.reaches = lambda: world.reaches_brokers(process.host)
            # Without DESCRIBE it knows no leader to fetch from.
            process.may_read = lambda topic: all(
                world.access.may(name, operation, topic) for operation in Operation
            )
        process.failed_fatally = partial(self._supervise, name)
        self.processes[name] = process
        return process

    def _next_id(self, name: str) -> str:
        lives = self._lives[name] = self._lives.get(name, 0) + 1
        return name if lives == 1 else f"{name}~{lives}"

    def _fault(self, event: Event, process: Process) -> int:
        payload = {"fault": str(event), "member": process.member_id}
        log = self._world.log
        sequence = log.write(Kind.FAULT, process.member_id, self._world.queue.now_ms, payload)
        self._world.settled((event, process.member_id))
        return sequence

    def _offsets(
        self, process: Process, owned: Partitions, offset: int | None
    ) -> tuple[CommittedOffset, ...]:
        """``offset``, or where the process is; without a rate, ten records a second from the beginning on."""
        world = self._world
        now_ms, read = world.queue.now_ms, world.log.state.consumption
        usual = (now_ms - world.scenario.start_ms) * RECORDS_A_SECOND // SECOND_MS
        offsets = []
        for key, numbers in owned.items():
            # A topic that is deleted has no position any more; classic members go by names, the others by ids.
            topic = world.image.by_id.get(key) or world.image.topics.get(key)
            if topic is None:
                continue
            followed = read.topics.get(topic.name) if read is not None and offset is None else None
            for number in numbers:
                position = usual if offset is None else offset
                if followed is not None:
                    next_offset = position_of(followed, number, process.member_id, now_ms)
                    if next_offset is None:
                        # Handed over, and not fetched from: there is nothing to commit yet.
                        continue
                    position = next_offset
                offsets.append(
                    CommittedOffset(
                        topic=topic.name, topic_id=topic.topic_id, partition=number, offset=position
                    )
                )
        return tuple(offsets)


_CLOSES: Final = {
    How.DEFAULT: CloseOption.DEFAULT,
    How.LEAVE: CloseOption.LEAVE_GROUP,
    How.REMAIN: CloseOption.REMAIN_IN_GROUP,
}


def _closes_first(process: Process) -> bool:
    """Whether a restart is a clean one: a static member's, whose instance is held until it sends its leave."""
    consumer = process.consumer
    static = consumer.config.instance_id is not None
    return static and not process.paused and (consumer.can_leave or process.followed)
