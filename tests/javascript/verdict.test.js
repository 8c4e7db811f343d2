import assert from 'node:assert/strict';
import { test } from 'node:test';

import { releasesText } from '../../static/js/frame/words.js';
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

test('releases that records show are named, of a run only where they change', () => {
  const [old, since] = ['4.3', '4.4 or later'];
  assert.equal(releasesText([]), '');
  assert.equal(releasesText([since]), '4.4 or later');
  assert.equal(releasesText([since], '4.4.0'), '');
  assert.equal(releasesText([old, since], '4.3.1'), '4.3, then 4.4 or later');
  assert.equal(releasesText([old, since, old, since, old]), '4.3, then 4.4 or later, then 4.3, then 2 more');
});
