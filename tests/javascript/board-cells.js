/**
 * What the board shows of logs, as JSON Lines: each line in is one log (`frame`, `changes`, and the sequences of its moments, `rests`);
 * each line out has of its first frame and of each moment the partitions (`[owner, mode]` by key) and the members (`[owned, revoking,
 * wanted]`), by the rules of static/js/frame/view.js and of ownership.js, which follows the changes.
 */
import { createInterface } from 'node:readline';

import { apply } from '../../static/js/frame/changes.js';
import { Ownership } from '../../static/js/frame/ownership.js';
import { columnsOf, partitionsOf, unowned, widen } from '../../static/js/frame/view.js';

/** @param {import('../../static/js/types').Frame} frame @param {Map<string, number>} counts @param {Ownership} ownership */
function shown(frame, counts, ownership) {
  const views = partitionsOf(frame);
  const free = [...unowned(frame, columnsOf(counts), views)].map((key) => [key, [null, 'free']]);
  const followed = [...views.keys(), ...free.map(([key]) => key)].map((key) => {
    const view = ownership.of(key);
    return [key, view && [view.holder, view.mode]];
  });
  return {
    partitions: Object.fromEntries([...[...views].map(([key, { holder, mode }]) => [key, [holder, mode]]), ...free]),
    followed: Object.fromEntries(followed),
    members: Object.fromEntries(
      Object.keys(frame.members).map((id) => {
        const { owned, revoking, wanted } = ownership.member(id);
        return [id, [owned.length, revoking.length, wanted.length]];
      }),
    ),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { frame: first, changes, rests } = JSON.parse(line);
  const counts = widen(first);
  const ownership = new Ownership();
  ownership.start(first);
  const told = [shown(first, counts, ownership)];
  let [frame, at] = [first, 0];
  for (const rest of rests) {
    while (at < changes.length && changes[at].sequence <= rest) {
      const from = at;
      while (at < changes.length && changes[at].sequence === changes[from].sequence) at += 1;
      frame = apply(frame, changes, from, at);
      ownership.follow(frame, changes, from, at);
      widen(frame, counts);
    }
    told.push(shown(frame, counts, ownership));
  }
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
