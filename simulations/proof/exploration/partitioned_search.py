"""One exploration shared out among several that walk it level by level, each the worlds of its own.

All keep the same parts under the same numbers: before a level is walked, every one of them takes the steps that
anyone will be the first to take, in one order. Only then does each expand what is its own, and hand the worlds that it
comes to over to their owners. An owner takes the first way to a world in the order in which one walk would find it, so
that numbers, counts and traces are those of one walk.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from struct import Struct

from simulations.proof.exploration.consumer.world import ConsumerWorlds
from simulations.proof.exploration.findings import Findings
from simulations.proof.exploration.state_layout import Form, World, is_forced

ORDER_BITS = 16
"""Steps of one world that an order has room for; nobody can take nearly as many."""

LEVEL = 1 << 40
"""Numbers from here on are of worlds that were found in this level, and have no number yet."""

WRONG, FORCED = 1, 2
"""What is known of a step: it breaks a rule, it took a fault."""


class SearchPartition:
    """What one of ``count`` walks. The calls of a level, in order: ``first_steps``, ``learn``, ``expand``, ``take``, ``number``."""

    def __init__(self, worlds: ConsumerWorlds, index: int, count: int) -> None:
        self.worlds = worlds
        self.transitions = 0
        self.rests: list[int] = []
        self.found = Findings(rests=self.rests)
        self.mine = array("I")
        """The numbers of the worlds that ``found.parents`` and ``found.steps`` report."""
        self.states = 1
        self._index = index
        self._count = count
        self._numbers: dict[Form, int] = {}
        first = worlds.first()
        self._pack = Struct(f"<IHHB{len(first)}i")
        self._frontier: list[tuple[int, World]] = []
        # Of the level: forms that are new, the order of the first way to each, and where it comes from.
        self._forms: list[Form] = []
        self._orders: list[int] = []
        self._ways: list[tuple[int, bool, World]] = []
        self._targets: list[int] = []
        if worlds.owner(first) % count == index:
            self._numbers[worlds.form(first)] = 0
            self._note_step(0, 0, 0)
            self._frontier.append((0, first))

    def first_steps(self) -> list[World]:
        """Worlds from which steps can be taken that have not been taken before."""
        found: list[World] = []
        seen: set[Hashable] = set()
        for _, world in self._frontier:
            missing = self.worlds.untaken(world)
            if missing and not seen.issuperset(missing):
                seen.update(missing)
                found.append(world)
        return found

    def learn(self, worlds: set[World]) -> None:
        """Takes the steps that anyone will be the first to take."""
        for world in sorted(worlds):
            for _ in self.worlds.following(world):
                pass

    def expand(self) -> list[bytes]:
        """The worlds after those of this level, packed for their owners."""
        worlds, broken, count = self.worlds, self.found.broken, self._count
        parts = len(worlds.coordinators), len(worlds.processes)
        following, owner, pack = worlds.following, worlds.owner, self._pack.pack
        out: list[list[bytes]] = [[] for _ in range(count)]
        for number, world in self._frontier:
            if worlds.converged(world):
                self.rests.append(number)
            for order, (step, after, wrong) in enumerate(following(world)):
                self.transitions += 1
                forced = is_forced(world, after)
                flags = bool(wrong) * WRONG + forced * FORCED
                out[owner(after) % count].append(pack(number, order, step, flags, *after))
                for invariant, text in wrong:
                    broken.setdefault(invariant, (number, step, text))
                if not forced and worlds.raises_epoch(world, after):
                    self.found.raises.append(number)
        assert parts == (len(worlds.coordinators), len(worlds.processes)), "every first step was learned"
        return [b"".join(packed) for packed in out]

    def take(self, packed: bytes) -> None:
        """Worlds of its own that someone has come to."""
        numbers, form_of = self._numbers, self.worlds.form
        forms, orders, ways = self._forms, self._orders, self._ways
        sources, targets = self.found.sources, self._targets
        for parent, order, step, flags, *after in self._pack.iter_unpack(packed):
            world = tuple(after)
            form = form_of(world)
            fresh = LEVEL + len(forms)
            other = numbers.setdefault(form, fresh)
            if other >= LEVEL:
                place = parent << ORDER_BITS | order
                if other == fresh:
                    forms.append(form)
                    orders.append(place)
                    ways.append((step, bool(flags & WRONG), world))
                elif place < orders[other - LEVEL]:
                    orders[other - LEVEL] = place
                    ways[other - LEVEL] = (step, bool(flags & WRONG), world)
            if other != parent and not flags & FORCED:
                sources.append(parent)
                targets.append(other)

    def orders(self) -> bytes:
        """Where the new worlds stand among all of the level."""
        return array("Q", sorted(self._orders)).tobytes()

    def number(self, everyone: Sequence[bytes]) -> bool:
        """Gives them their numbers; whether anyone has any. ``everyone``: the orders of each share, by index."""
        others = [array("Q", known) for at, known in enumerate(everyone) if at != self._index]
        final = [0] * len(self._orders)
        self._frontier = []
        for rank, at in enumerate(sorted(range(len(final)), key=self._orders.__getitem__)):
            order = self._orders[at]
            number = self.states + rank + sum(bisect_left(other, order) for other in others)
            final[at] = self._numbers[self._forms[at]] = number
            step, wrong, world = self._ways[at]
            self._note_step(number, order >> ORDER_BITS, step)
            if wrong:
                # Nothing is promised behind a broken rule.
                self.rests.append(number)
            else:
                self._frontier.append((number, world))
        self.found.targets.extend(
            final[target - LEVEL] if target >= LEVEL else target for target in self._targets
        )
        self.states += sum(len(known) for known in everyone) // array("Q").itemsize
        self._forms, self._orders, self._ways, self._targets = [], [], [], []
        return bool(self._frontier)

    def _note_step(self, number: int, parent: int, step: int) -> None:
        self.mine.append(number)
        self.found.parents.append(parent)
        self.found.steps.append(step)


def together(shares: Sequence[tuple[array[int], Findings]]) -> Findings:
    """What all shares have found, each given by its ``mine`` and its ``found``."""
    count = sum(len(mine) for mine, _ in shares)
    rests: list[int] = []
    whole = Findings(parents=array("I", bytes(4 * count)), steps=array("H", bytes(2 * count)), rests=rests)
    broken: list[tuple[int, int, str, tuple[int, int, str]]] = []
    for index, (mine, found) in enumerate(shares):
        for at, number in enumerate(mine):
            whole.parents[number] = found.parents[at]
            whole.steps[number] = found.steps[at]
        whole.sources.extend(found.sources)
        whole.targets.extend(found.targets)
        rests.extend(found.rests)
        whole.raises.extend(found.raises)
        broken += [(how[0], index, invariant, how) for invariant, how in found.broken.items()]
    # A world belongs to one share, which found what its steps break in their order.
    for _, _, invariant, how in sorted(broken, key=lambda each: each[:2]):
        whole.broken.setdefault(invariant, how)
    return whole
