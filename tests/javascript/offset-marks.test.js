import assert from 'node:assert/strict';
import { test } from 'node:test';

import { offsetMarks, offsetWords } from '../../static/js/frame/offset-marks.js';

const held = {
  kind: 'open_transaction',
  sequences: [14],
  open: true,
  partitions: ['in-0'],
  producer: 4001,
  from_ms: 35_000,
};
const back = {
  kind: 'offset_back',
  sequences: [19, 22, 23],
  steps: [23],
  partitions: ['in-0', 'in-1'],
  partition: 'in-0',
  from_offset: 29_138_305,
  to_offset: 21_000_000,
};
const marks = (findings, first, sequence = first, at_ms = 140_000) => offsetMarks(findings, { first, sequence, at_ms });

test('an open transaction marks what it holds from its first commit to the end of the log', () => {
  assert.equal(marks([held], 13).size, 0);
  assert.deepEqual(
    [...marks([held], 14, 14, 35_000)],
    [['in-0', { caption: 'open transaction', says: 'held by producer 4001 in an open transaction' }]],
  );
  const atEnd = marks([held], 36);
  assert.equal(
    offsetWords(atEnd, (key) => key),
    'in-0: held by producer 4001 in an open transaction for 1\u202fmin 45\u202fs',
  );
});

test('a transaction that has ended holds nothing from its end on', () => {
  const ended = { ...held, open: false, sequences: [14, 20] };
  assert.equal(marks([ended], 19).size, 1);
  assert.equal(marks([ended], 20).size, 0);
});

test('an offset that goes back is marked in its moment alone, with how far where that is known', () => {
  assert.equal(marks([back], 22).size, 0);
  assert.equal(marks([back], 24).size, 0);
  const now = marks([back], 21, 23);
  assert.equal(now.get('in-0').caption, 'offset back by 8,138,305');
  assert.equal(now.get('in-1').caption, 'offset back');
});

test('offsets that are set on are said to go on, and offsets that are set for the first time are not marked', () => {
  const set = { ...back, kind: 'offsets_set', why: 'forward', from_offset: 10, to_offset: 30 };
  assert.equal(marks([set], 23).get('in-0').caption, 'offset on by 20');
  assert.equal(marks([{ ...set, why: 'first' }], 23).size, 0);
});
