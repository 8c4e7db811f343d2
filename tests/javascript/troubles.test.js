import assert from 'node:assert/strict';
import { test } from 'node:test';

import { narrowedRows, once, summed, sums, totals } from '../../static/js/troubles/order.js';

const row = (facts) => ({
  timeline: facts.group,
  severity: 0,
  pattern: '',
  headline: '',
  still: false,
  worst_ms: null,
  worst_member: '',
  unread: 0,
  per_hour: 0,
  strip: [],
  causes: [],
  topics: [],
  hosts: [],
  note: '',
  ...facts,
});
const ROWS = [
  row({ group: 'orders', severity: 2, pattern: 'Crash loop', still: true, worst_ms: 5, topics: ['in'], per_hour: 3 }),
  row({
    group: 'mail',
    severity: 1,
    pattern: 'Storm',
    worst_ms: 9,
    headline: 'Mail-1 left',
    hosts: ['10.0.0.7'],
    causes: [0],
  }),
  row({ group: 'calm', worst_member: 'worker-7', per_hour: 9, strip: [{ cell: 1, rebalances: 2, unread: false }] }),
];
const ALL = { all: true, text: '', pattern: '', topic: '', host: '', cause: null, sort: 'severity' };
const names = (asked) => narrowedRows(ROWS, { ...ALL, ...asked }).map(({ group }) => group);

test('groups are narrowed to those in trouble, by pattern, topic, host, cause and words of any column', () => {
  assert.deepEqual(names({ all: false }), ['orders', 'mail']);
  assert.deepEqual(names({ pattern: 'Storm' }), ['mail']);
  assert.deepEqual(names({ topic: 'in' }), ['orders']);
  assert.deepEqual(names({ host: '10.0.0.7' }), ['mail']);
  assert.deepEqual(names({ all: false, cause: 0 }), ['mail']);
  assert.deepEqual(names({ text: 'WORKER' }), ['calm']);
  assert.deepEqual(names({ text: 'mail left' }), ['mail']);
});

test('the order is the server\u2019s, or by name, harm or rate', () => {
  assert.deepEqual(names({}), ['orders', 'mail', 'calm']);
  assert.deepEqual(names({ sort: 'group' }), ['calm', 'mail', 'orders']);
  assert.deepEqual(names({ sort: 'worst' }), ['mail', 'orders', 'calm']);
  assert.deepEqual(names({ sort: 'rate' }), ['calm', 'orders', 'mail']);
});

test('the sentence counts groups in trouble, names what is still so and counts causes', () => {
  const causes = [{ kind: 'removed', text: '', from_ms: 0, to_ms: 0, groups: [] }];
  assert.equal(
    summed({ rows: ROWS, causes }),
    '2 of 3 groups are in trouble; orders still is; 1 cause shared by many groups.',
  );
  assert.equal(summed({ rows: [ROWS[2]], causes: [] }), 'Nothing wrong in 1 group.');
  assert.equal(summed({ rows: [], causes: [] }), '');
});

test('the figures count groups, those in trouble, all rebalances, and what nobody reads of those in trouble', () => {
  const rows = [{ ...ROWS[0], unread: 4 }, ROWS[1], { ...ROWS[2], unread: 6 }];
  assert.deepEqual(totals({ rows, cells: 3 }), [
    ['Groups', '3', false],
    ['In trouble', '2', true],
    ['Rebalances', '2', false],
    ['Unread now', '4 partitions', true],
  ]);
});

test('the axis sums the cells of all rows, and choices are listed once', () => {
  assert.deepEqual(sums(ROWS, 3), [0, 2, 0]);
  assert.deepEqual(once(['b', '', 'a', 'b']), ['a', 'b']);
});
