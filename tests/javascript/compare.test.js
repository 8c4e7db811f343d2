import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bareSince,
  begun,
  consumedIn,
  costOf,
  lagAt,
  lostUntil,
  readersOf,
  recordsOf,
  seenAt,
  seenFrom,
} from '../../static/js/compare/compare.js';
import { when } from '../../static/js/frame/words.js';
import { consumedAt, consumedWords, readTwiceSince } from '../../static/js/frame/consumption.js';

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

/** A partition of 100 records a second that A has read up to 1,000, and that nobody reads from 10 s on until B does at 14 s. */
const rated = (/** @type {number} */ at_ms, /** @type {object} */ more, readers = {}) => ({
  moment: null,
  at_ms,
  frame: {
    ...seen(at_ms, {}).frame,
    consumption: {
      rates: { foo: 100 },
      partitions: {
        foo: {
          0: { begin_ms: 0, begin_offset: 0, read: 1000, readers, read_twice: 30, skipped: 0, lag_max: 7 },
        },
      },
      waiting_rate: 0,
      waiting: 0,
      read_twice: 5,
      skipped: 0,
      ...more,
    },
  },
});

test('the lag grows while nobody reads, and counts at most right before somebody does', () => {
  const figures = (/** @type {object} */ more) => ({ waiting: 0, waiting_rate: 0, read_twice: 5, skipped: 0, ...more });
  const change = (/** @type {number} */ sequence, /** @type {string[]} */ path, /** @type {any} */ value) => ({
    sequence,
    path,
    new: value,
  });
  const chunk = {
    frame: { ...run[0].frame, at_ms: 0 },
    changes: [
      change(1, ['at_ms'], 1000),
      change(1, ['consumption'], figures({})),
      change(2, ['at_ms'], 10_000),
      change(2, ['consumption', 'partitions', 'foo'], {}),
      change(2, ['consumption', 'waiting'], -1_000_000),
      change(2, ['consumption', 'waiting_rate'], 100),
      change(3, ['at_ms'], 12_000),
      change(4, ['at_ms'], 14_000),
      change(4, ['consumption', 'waiting'], 0),
      change(4, ['consumption', 'waiting_rate'], 0),
      change(4, ['consumption', 'read_twice'], 25),
    ],
  };
  const consumed = consumedIn(chunk);
  assert.deepEqual(
    consumed.map(({ at_ms }) => at_ms),
    [1000, 10_000, 14_000],
  );
  assert.deepEqual(
    [500, 10_000, 12_345, 13_999, 14_000].map((at_ms) => lagAt(consumed, at_ms)),
    [null, 0, 234, 399, 0],
  );
  const cost = costOf(run, 20_000, consumed);
  assert.deepEqual([cost.lag_max, cost.read_twice, cost.skipped], [400, 20, 0]);
  assert.deepEqual(recordsOf(consumed, 13_000, 20_000), { lag_max: 400, read_twice: 20, skipped: 0 });
  assert.deepEqual(recordsOf(consumed, 15_000, 20_000), { lag_max: 0, read_twice: 0, skipped: 0 });
});

test('of a run whose topics have no rate nobody says how far it lags', () => {
  const cost = costOf(run, 20_000);
  assert.deepEqual([cost.lag_max, cost.read_twice, cost.skipped], [null, null, null]);
  assert.equal(lagAt([], 5), null);
  assert.deepEqual(consumedIn({ frame: run[0].frame, changes: [{ sequence: 1, path: ['at_ms'], new: 5 }] }), []);
  assert.equal(consumedWords(run[0].frame, 'foo-0'), '');
});

test('a chosen partition tells the end of its log, its lag, and what was read twice', () => {
  const { frame } = rated(14_000, {});
  assert.equal(consumedWords(frame, 'foo-0'), 'Log end offset 1,400; lag 400, at most 400; records read twice 30');
  const read = rated(14_000, {}, { B: { position: 1400, fetches: true } });
  assert.deepEqual(consumedAt(read.frame, 'foo-0', 15_000), {
    end: 1500,
    lag: 0,
    lag_max: 7,
    read_twice: 30,
    skipped: 0,
  });
  assert.equal(consumedAt(frame, 'bar-0', 15_000), null);
  const both = { A: { position: 1000, fetches: true }, B: { position: 900, fetches: true } };
  const two = rated(14_000, {}, both).frame;
  // Of the 500 that A reads and the 600 that B reads 500 are new.
  assert.equal(consumedAt(two, 'foo-0', 15_000)?.read_twice, 30 + 600);
  assert.equal(readTwiceSince(two, 15_000), 600);
  assert.equal(readTwiceSince(frame, 15_000), 0);
});

test('before the first entry of a log there is no time: a comparison begins with that entry, and none of 1970', () => {
  const at = (...times) => times.map((at_ms, place) => ({ moment: null, frame: { sequence: place }, at_ms }));
  const real = 1_790_000_000_000;
  assert.deepEqual(
    begun(at(0, real, real + 5)).map(({ at_ms }) => at_ms),
    [real, real, real + 5],
  );
  for (const times of [[0, 3, 9], [real, real + 5], [0]]) assert.deepEqual(begun(at(...times)), at(...times));
  assert.equal(when(0, real), '');
  assert.notEqual(when(real, real), '');
});
