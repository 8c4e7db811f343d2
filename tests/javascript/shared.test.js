/** What many pages share, each alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { messageOf } from '../../static/js/shared/errors.js';
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
