import assert from 'node:assert/strict';
import { test } from 'node:test';

import { briefOf } from '../../static/js/panels/verdict.js';

/** @param {string} text @param {object} [more] */
const clause = (text, more = {}) => ({ text, sequence: null, ...more });

test('a story begins with what happened: neither with how the group formed, nor with sums', () => {
  const clauses = [
    clause('From 10:00 on A and B joined', { part: 'start', sequence: 1 }),
    clause('.', { part: 'start' }),
    clause(' At 10:05 '),
    clause('A was removed', { sequence: 9 }),
    clause('.'),
    clause(' 2 partitions moved.', { part: 'sum' }),
    clause(' The group is empty at the end', { sequence: 12 }),
    clause('.'),
  ];
  assert.deepEqual([...briefOf(clauses).keys()], [2, 3, 4, 6, 7]);
});

test('a story ends before "more" with its last whole sentence of the first 90 words', () => {
  const long = Array.from({ length: 30 }, () => 'word').join(' ');
  const clauses = [1, 2, 3, 4].flatMap((sequence) => [clause(long, { sequence }), clause('.')]);
  assert.equal(briefOf(clauses).size, 4);
});

test('a point within a name or a number ends no sentence, and the next sentence is not begun', () => {
  const named = [clause('app.a was removed', { sequence: 1 }), clause(' (session of 10.0 s)')];
  assert.equal(briefOf(named).size, 0);
  const long = Array.from({ length: 85 }, () => 'word').join(' ');
  const next = [
    clause(long, { sequence: 1 }),
    clause('. At '),
    clause('b was removed too, with all it had', { sequence: 2 }),
  ];
  assert.deepEqual(
    [...briefOf([...next, clause('.')])],
    [
      [0, long.length],
      [1, 1],
    ],
  );
});
