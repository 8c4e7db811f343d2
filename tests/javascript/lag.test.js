import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  costCells,
  lagText,
  lineName,
  nearestLook,
  reasonsOf,
  runsOf,
  skewText,
} from '../../static/js/figures/lag-words.js';
import { COLUMNS, shownRows } from '../../static/js/rebalances/table.js';

const COST = {
  sequence: 7,
  epoch: 4,
  at_ms: 60_000,
  since_ms: 20_000,
  settled_ms: 62_000,
  moved: 2,
  unassigned_partition_ms: 4_000,
  unread_partition_ms: 89_900,
  unread_partition_ms_most: 89_900,
  unread_why: null,
  records_waited: 10_788,
  waited_why: null,
  caught_up_ms: 192_000,
  caught_up_why: null,
  read_twice_least: 0,
  read_twice_most: 576,
  read_twice_why: null,
  estimate: null,
};
const texts = (/** @type {object} */ change) => costCells({ ...COST, ...change }).map(({ text }) => text);

test('a rebalance costs partition-seconds, records, a time to catch up and a range of records', () => {
  assert.deepEqual(texts({}), ['2', '4.0', '89.9', '10,788', '2\u202fmin 10\u202fs', '0–576']);
  assert.equal(texts({ read_twice_least: 30, read_twice_most: 30 })[5], '30');
  assert.equal(texts({ unread_partition_ms_most: 1_201_000 })[2], '89.9–1,201.0');
  assert.equal(texts({ unread_partition_ms_most: 89_949 })[2], '89.9');
});

test('what is not known has its reason, and a bound on one side is said as such', () => {
  const cells = costCells({ ...COST, records_waited: null, waited_why: 'no-round' });
  assert.deepEqual(cells[3], { text: null, why: 'no-round' });
  assert.equal(texts({ read_twice_most: null, read_twice_least: 30 })[5], 'at least 30');
  assert.equal(texts({ read_twice_most: null })[5], null);
  assert.equal(texts({ caught_up_ms: null })[4], null);
  const unbounded = costCells({ ...COST, unread_partition_ms_most: null, unread_why: 'no-commit' });
  assert.deepEqual(unbounded[2], { text: 'about 89.9 or more', why: 'no-commit' });
});

test('rebalances are sorted by what their cells show: by an estimate, a bound on one side, and last what never caught up', () => {
  const changes = [
    { records_waited: null, estimate: { records_waited: 20_000, caught_up_ms: null } },
    { caught_up_ms: null, caught_up_why: 'not-yet', read_twice_most: null, read_twice_least: 900 },
    { caught_up_ms: null, caught_up_why: 'no-round', read_twice_most: null, records_waited: null },
    { caught_up_ms: 60_000 },
    {},
  ];
  const rows = changes.map((change, sequence) => ({
    sequence,
    epoch: 1,
    at_ms: 0,
    until_ms: 1,
    causes: [],
    who: [],
    moved: 0,
    stops_all: false,
    interrupted: [],
    blocked: [],
    proof: [],
    cost: { ...COST, ...change },
  }));
  const sorted = (/** @type {string} */ name) =>
    shownRows({ timeline: 't', first_ms: 0, last_ms: 1, rebalances: rows }, '', {
      column: COLUMNS.findIndex(([each]) => each === name),
      down: false,
    }).map(({ sequence }) => sequence);
  assert.deepEqual(sorted('Records waited'), [2, 1, 3, 4, 0]);
  assert.deepEqual(sorted('Caught up after'), [2, 3, 0, 4, 1]);
  assert.deepEqual(sorted('Read twice'), [2, 0, 3, 4, 1]);
});

test('an estimate is marked as one, and never stands in for what is known', () => {
  const estimate = { records_waited: 60, caught_up_ms: 70_000 };
  const unknown = { records_waited: null, waited_why: 'no-round', caught_up_ms: null, caught_up_why: 'no-lag-before' };
  const cells = costCells({ ...COST, ...unknown, estimate });
  assert.deepEqual(cells.slice(3, 5), [
    { text: '≈ 60', why: 'estimate' },
    { text: '≈ 8.0\u202fs', why: 'estimate' },
  ]);
  assert.equal(texts({ ...unknown, estimate: { ...estimate, caught_up_ms: null } })[4], null);
  assert.equal(texts({ estimate })[3], '10,788');
});

test('a line is named by its member, its topic or its partition, and its values have their unit', () => {
  const name = (/** @type {string} */ id) => id.toUpperCase();
  assert.equal(lineName({ topic: null, partition: null, member: 'a', records: [], seconds: [], why: [] }, name), 'A');
  const topic = { topic: 'orders', member: null, records: [], seconds: [], why: [] };
  assert.equal(lineName({ ...topic, partition: null }, name), 'orders');
  assert.equal(lineName({ ...topic, partition: 3 }, name), 'orders-3');
  const line = { records: [1, 1200, null], seconds: [null, 4.5, null], why: ['older', null, 'no-right'] };
  assert.equal(lagText(line, 'records', 0), '1 record');
  assert.equal(lagText(line, 'records', 1), '1,200 records');
  assert.equal(lagText(line, 'seconds', 1), '4.5\u202fs');
  assert.equal(lagText(line, 'seconds', 0), 'not known');
});

test('a line is drawn where it is known, and shaded where it is not', () => {
  const values = [null, 1, 2, null, null, 3];
  assert.deepEqual(runsOf(values, true), [
    [1, 2],
    [5, 5],
  ]);
  assert.deepEqual(runsOf(values, false), [
    [0, 0],
    [3, 4],
  ]);
});

test('the look that is nearest to the pointer is read', () => {
  assert.deepEqual(
    [-5, 4, 6, 99].map((ms) => nearestLook([0, 10, 20], ms)),
    [0, 0, 1, 2],
  );
});

test('each reason of the total and of the costs is listed once, in one order', () => {
  const total = { records: [null, null], seconds: [null, null], why: ['no-right', 'no-round'] };
  const costs = [{ ...COST, caught_up_ms: null, caught_up_why: 'not-yet' }];
  const lag = { times_ms: [0, 1], total, lines: [], more: 0, rebalances: costs, skew: [], earlier: 0, problem: null };
  assert.deepEqual(reasonsOf(lag), ['no-round', 'no-right', 'not-yet']);
});

test('what falls behind alone is said with its records, and who reads it', () => {
  const name = (member) => member.toUpperCase();
  const one = { partitions: ['orders-1', 'orders-3'], member: 'ann', before: 12, after: 4100, written_times: null };
  assert.equal(
    skewText({ ...one, kind: 'slow-member' }, name),
    'ANN falls behind alone: the lag of all its 2 partitions grew from 12 to 4,100 records, and nobody else’s did.',
  );
  const hot = { ...one, kind: 'hot-partition', partitions: ['orders-1'] };
  assert.equal(
    skewText({ ...hot, written_times: 8.2 }, name),
    'orders-1 is hot: it is written 8.2 times as fast as the others, and its lag grew from 12 to 4,100 records (read by ANN).',
  );
  assert.match(skewText({ ...hot, member: null }, name), /nobody writes the others, .* records\.$/);
});
