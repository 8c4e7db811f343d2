import assert from 'node:assert/strict';
import test from 'node:test';

import { place } from '../../static/js/board/grid-keys.js';

const lengths = [4, 5, 5];

test('arrows go from cell to cell and stop at the edges', () => {
  assert.deepEqual(place(lengths, [1, 2], 'ArrowDown'), [2, 2]);
  assert.deepEqual(place(lengths, [2, 2], 'ArrowDown'), [2, 2]);
  assert.deepEqual(place(lengths, [1, 0], 'ArrowLeft'), [1, 0]);
  assert.deepEqual(place(lengths, [1, 4], 'ArrowRight'), [1, 4]);
});

test('a shorter row is entered at its end', () => {
  assert.deepEqual(place(lengths, [1, 4], 'ArrowUp'), [0, 3]);
});

test('Home and End go to the ends of the row', () => {
  assert.deepEqual(place(lengths, [2, 3], 'Home'), [2, 0]);
  assert.deepEqual(place(lengths, [0, 1], 'End'), [0, 3]);
});
