import assert from 'node:assert/strict';
import { test } from 'node:test';

import { stepsIn, WINDOW_STEPS } from '../../static/js/timeline/scale.js';
import { rem } from '../../static/js/shared/text-size.js';

test('a length that grows with the text is the same number of pixels at the usual size', () => {
  for (const px of [0, 1, 11.5, 17, 0.52, 10_000]) assert.ok(Math.abs(Number.parseFloat(rem(px)) * 16 - px) < 0.001);
});

test('marks of steps stand beside each other, on a narrow screen fewer of them', () => {
  assert.equal(stepsIn(890), WINDOW_STEPS);
  assert.equal(stepsIn(5_000), WINDOW_STEPS);
  assert.equal(stepsIn(308), 28);
  assert.equal(stepsIn(40), 16);
});
