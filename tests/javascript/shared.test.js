/** What many pages share, each alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { columnOf } from '../../static/js/frame/view.js';
import { messageOf } from '../../static/js/shared/errors.js';
import { keep, kept } from '../../static/js/shared/kept.js';
import { placeAfter } from '../../static/js/shared/keys.js';
import { append } from '../../static/js/shared/lists.js';
import { countWhile } from '../../static/js/shared/sorted.js';

test('of items in order as many are counted as are inside, wherever the border is', () => {
  for (let size = 0; size < 20; size += 1) {
    const items = Array.from({ length: size }, (_, at) => at);
    for (let border = 0; border <= size; border += 1)
      assert.equal(
        countWhile(items, (item) => item < border),
        border,
      );
  }
  assert.equal(
    countWhile(Float64Array.of(0.5, 1.5, 2.5), (item) => item <= 1.5),
    2,
  );
});

test('an error is shown by its own message, anything else that was thrown by the one that is given', () => {
  assert.equal(messageOf(new RangeError('Too many.'), 'It failed.'), 'Too many.');
  assert.equal(messageOf('Too many.', 'It failed.'), 'It failed.');
  assert.equal(messageOf(undefined), '');
});

test('keys lead through a list and stop at its ends; other keys lead nowhere', () => {
  const led = (key, at) => placeAfter(key, at, 10, 4);
  assert.deepEqual([led('ArrowDown', 3), led('ArrowUp', 3), led('PageDown', 3), led('PageUp', 3)], [4, 2, 7, 0]);
  assert.deepEqual([led('ArrowUp', 0), led('ArrowDown', 9), led('Home', 5), led('End', 5)], [0, 9, 0, 9]);
  assert.deepEqual([led('Enter', 5), led('ArrowRight', 5)], [null, null]);
});

test('what is appended by a key keeps its order, and each key its own list', () => {
  const lists = new Map();
  for (const [key, item] of Object.entries({ a: 1, b: 2 })) append(lists, key, item);
  append(lists, 'a', 3);
  assert.deepEqual(
    [...lists],
    [
      ['a', [1, 3]],
      ['b', [2]],
    ],
  );
});

test('a browser that keeps nothing answers nothing, and asks nobody to care', () => {
  const before = globalThis.localStorage;
  const refuses = () => {
    throw new Error('SecurityError');
  };
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    value: { getItem: refuses, setItem: refuses, removeItem: refuses },
  });
  keep('zone', 'utc');
  keep('zone', null);
  assert.equal(kept('zone'), null);
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, value: before });
});

test('a partition is the last number of its key, also where its topic has numbers and dashes', () => {
  assert.deepEqual(columnOf('on-call-2-17'), { key: 'on-call-2-17', topic: 'on-call-2', partition: 17 });
});
