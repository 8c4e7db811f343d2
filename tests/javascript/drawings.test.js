import assert from 'node:assert/strict';
import { test } from 'node:test';

import { columnsIn } from '../../static/js/board/block-rows.js';
import { stepsIn, WINDOW_STEPS } from '../../static/js/timeline/scale.js';
import { rem } from '../../static/js/shared/text-size.js';

const ROW = { head: 196, named: 68 };

test('rows of few blocks stand beside each other, as many as there is room for', () => {
  assert.equal(columnsIn({ ...ROW, members: 60, partitions: 180 }, 1008), 3);
  assert.equal(columnsIn({ ...ROW, members: 60, partitions: 180 }, 500), 1);
  assert.equal(columnsIn({ ...ROW, members: 60, partitions: 180 }, 5000), 4);
  assert.equal(columnsIn({ ...ROW, members: 20, partitions: 2000 }, 1008), 1);
  assert.equal(columnsIn({ ...ROW, members: 0, partitions: 0 }, 0), 1);
});

test('a member that comes or goes, and partitions that nobody owns for a while, move no rows', () => {
  const columns = new Set();
  for (let members = 50; members <= 60; members += 1)
    for (let partitions = 170; partitions <= 180; partitions += 1)
      columns.add(columnsIn({ ...ROW, members, partitions }, 1008));
  assert.deepEqual([...columns], [3]);
});

test('a length that grows with the text is the same number of pixels at the usual size', () => {
  for (const px of [0, 1, 11.5, 17, 0.52, 10_000]) assert.ok(Math.abs(Number.parseFloat(rem(px)) * 16 - px) < 0.001);
});

test('marks of steps stand beside each other, on a narrow screen fewer of them', () => {
  assert.equal(stepsIn(890), WINDOW_STEPS);
  assert.equal(stepsIn(5_000), WINDOW_STEPS);
  assert.equal(stepsIn(308), 28);
  assert.equal(stepsIn(40), 16);
});
