import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareSince, costOf, lostUntil, readersOf, seenAt, seenFrom } from '../../static/js/compare.js';

/** @param {number} at_ms @param {object} owned @param {number} generation */
const seen = (at_ms, owned, generation = 1) => ({
  moment: null,
  at_ms,
  frame: {
    at_ms,
    generation,
    members: {},
    topics: {},
    clients: Object.fromEntries(
      Object.entries(owned).map(([member, partitions]) => [member, { owned: { foo: partitions } }]),
    ),
  },
});

/** A has two partitions, gives both up at 10 s, gets one back at 14 s; B gets the other at 16 s. */
const run = [
  seen(0, {}),
  seen(1000, { A: [0, 1] }),
  seen(10_000, { A: [] }),
  seen(14_000, { A: [0] }, 2),
  seen(16_000, { A: [0], B: [1] }, 2),
];

test('a partition is lost from when its reader gave it up until another one reads it', () => {
  const cost = costOf(run, 20_000);
  assert.deepEqual([cost.lost_ms, cost.stopped, cost.longest_ms, cost.moved, cost.epochs], [10_000, 2, 6000, 1, 2]);
  assert.equal(cost.settled_ms, 16_000);
  assert.deepEqual(cost.keys, ['foo-0', 'foo-1']);
});

test('what nobody has read yet is not lost', () => {
  assert.equal(lostUntil(costOf(run, 20_000), 900), 0);
});

test('the loss grows with the playhead', () => {
  const cost = costOf(run, 20_000);
  assert.deepEqual(
    [9000, 12_000, 15_000, 30_000].map((at_ms) => lostUntil(cost, at_ms)),
    [0, 4000, 9000, 10_000],
  );
  assert.deepEqual([...bareSince(cost, 15_000)], [['foo-1', 10_000]]);
});

test('what is being revoked is not read any more, and records alone tell what is assigned', () => {
  const [, whole] = run;
  const revoking = {
    ...whole.frame,
    clients: { A: { owned: { foo: [0, 1] }, calling: 'on_partitions_revoked', revoking: { foo: [1] } } },
  };
  assert.deepEqual([...readersOf(revoking).keys()], ['foo-0']);
  assert.deepEqual(
    [...readersOf({ ...whole.frame, clients: null, members: { A: { assigned: { foo: [7] } } } })],
    [['foo-7', ['A']]],
  );
});

test('a time is shown by the last moment before it', () => {
  assert.deepEqual(
    [0, 999, 1000, 15_999, 99_000].map((at_ms) => seenAt(run, at_ms).at_ms),
    [0, 0, 1000, 14_000, 16_000],
  );
});

test('what happened before the comparison begins counts for nothing', () => {
  const cost = costOf(seenFrom(run, 12_000), 20_000);
  assert.deepEqual([cost.lost_ms, cost.stopped, cost.moved], [0, 0, 0]);
  assert.equal(costOf(seenFrom(run, 9000), 20_000).lost_ms, 10_000);
});
