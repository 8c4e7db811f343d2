import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepPath, valueAt } from '../../static/js/figures/watch-panel.js';

/** @type {import('../../static/js/figures/watch-panel.js').Watched} */
const numbers = {
  of: 'members',
  is_number: true,
  steps: [
    { sequence: 1, at_ms: 0, value: 0 },
    { sequence: 5, at_ms: 100, value: 2 },
    { sequence: 9, at_ms: 300, value: null },
    { sequence: 12, at_ms: 400, value: 1 },
  ],
  left_out: 0,
  first_ms: 0,
  last_ms: 500,
};

test('a watched value holds from its entry until the next one', () => {
  assert.deepEqual(
    [0, 1, 8, 9, 99].map((sequence) => valueAt(numbers, sequence)),
    [undefined, 0, 2, null, 1],
  );
});

test('a line of steps breaks where there is no value, and holds to the end', () => {
  assert.equal(
    stepPath(numbers, (ms) => ms),
    'M0.0 40.0H100.0V4.0H300.0M400.0 22.0H500.0',
  );
});

test('names have a height each, in the order of their first coming', () => {
  const names = {
    ...numbers,
    is_number: false,
    steps: [
      { sequence: 1, at_ms: 0, value: 'B' },
      { sequence: 2, at_ms: 100, value: 'A' },
      { sequence: 3, at_ms: 200, value: 'B' },
    ],
  };
  assert.equal(
    stepPath(/** @type {any} */ (names), (ms) => ms),
    'M0.0 40.0H100.0V4.0H200.0V40.0H500.0',
  );
});
