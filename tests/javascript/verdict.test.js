import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nextStep } from '../../static/js/panels/verdict.js';

test('a clause that counts several things leads from each to the next, and round again', () => {
  const told = [];
  let last;
  for (let click = 0; click < 4; click += 1) {
    const { nth, of, sequence } = nextStep('5 9 12', 9, last);
    told.push([sequence, `${nth + 1} of ${of}`]);
    last = String(nth);
  }
  assert.deepEqual(told, [
    [9, '2 of 3'],
    [12, '3 of 3'],
    [5, '1 of 3'],
    [9, '2 of 3'],
  ]);
});
