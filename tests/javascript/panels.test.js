import assert from 'node:assert/strict';
import { test } from 'node:test';

import { epochTicks, leftOf, staircase } from '../../static/js/figures/epochs-drawing.js';
import { untilItEnds } from '../../static/js/figures/epochs-words.js';
import { metricsAt, panelsOf, valueAt } from '../../static/js/source/panels.js';

const MEASURED = {
  measures: [
    { member: null, about: { name: 'count', unit: '' }, at: [3, 8], values: [1, null] },
    { member: 'A', about: { name: 'total', unit: '' }, at: [8], values: [5] },
  ],
  members: ['A', 'B'],
  clients: 9,
  not_told: [],
};

test('a measured value holds from its sequence until the next one', () => {
  const [count] = MEASURED.measures;
  assert.deepEqual(
    [2, 3, 7, 8, 99].map((sequence) => valueAt(count, sequence)),
    [undefined, 1, 1, null, null],
  );
});

test('metrics as of a moment are those of the API, with how many consumers are left out', () => {
  const early = metricsAt(MEASURED, 4);
  assert.deepEqual(early.broker, [{ name: 'count', unit: '', value: 1 }]);
  assert.deepEqual(early.clients, []);
  const late = metricsAt(MEASURED, 8);
  assert.deepEqual(late.clients, [{ member: 'A', metrics: [{ name: 'total', unit: '', value: 5 }] }]);
  assert.equal(late.more, 7);
});

test('what a page has no part of is said, not asked for', async () => {
  const read = async (/** @type {string} */ name) => ({ epochs: 'E', 'bytes-1': { 4: 'bytes' } })[name];
  assert.equal(
    panelsOf(new Set(['timeline', 'chunk-1']), read, () => 1),
    null,
  );
  const panels = panelsOf(new Set(['epochs', 'bytes-1']), read, (sequence) => (sequence < 10 ? 1 : 10));
  assert.equal(await panels?.epochs(), 'E');
  assert.equal(await panels?.bytes?.(4), 'bytes');
  await assert.rejects(panels?.bytes?.(5) ?? Promise.resolve(), /not in the file/);
  await assert.rejects(panels?.bytes?.(12) ?? Promise.resolve(), /not in the file/);
  await assert.rejects(panels?.metrics(4) ?? Promise.resolve(), /too many moments/);
  assert.equal(panelsOf(new Set(['epochs']), read, () => 1)?.bytes, null);
});

test('a staircase keeps its epoch until the next, and ends where a member is gone', () => {
  const trace = { x: [0, 10, 20, 30], y: [1, 2, null, 3], customdata: [1, 2, 3, 4], name: 'A' };
  const path = staircase(
    trace,
    0,
    (ms) => ms,
    (epoch) => -epoch,
  );
  assert.equal(path, 'M0.0 -1.0H10.0V-2.0H20.0M30.0 -3.0');
});

test('ticks of epochs are whole numbers, and few', () => {
  assert.deepEqual(epochTicks(0, 3), [0, 1, 2, 3]);
  const many = epochTicks(30, 530);
  assert.ok(many.length <= 9);
  assert.ok(many.every(Number.isInteger));
  assert.deepEqual(epochTicks(5, 5), [5]);
});

test('labels of long generations have the room that they need', () => {
  assert.deepEqual([9, 999, 1_000, 138_929].map(leftOf), [44, 44, 52, 68]);
});

test('the line of a member that goes reaches to where it went', () => {
  const trace = { name: 'A', x: [0, 9, 20, 30], y: [30, null, null, 33], customdata: [1, 5, 6, 7] };
  const drawn = untilItEnds(trace);
  assert.deepEqual(drawn.x, [0, 9, 9, 20, 30]);
  assert.deepEqual(drawn.y, [30, 30, null, null, 33]);
  assert.deepEqual(drawn.customdata, [1, 5, 5, 6, 7]);
});
