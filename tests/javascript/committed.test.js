import assert from 'node:assert/strict';
import { test } from 'node:test';

import { commitsWithin, shadesOf } from '../../static/js/panels/committed-card.js';
import { committedWords, longestFlat, pathOf, rises } from '../../static/js/frame/committed.js';
import { scale } from '../../static/js/timeline/scale.js';

/** @type {import('../../static/js/frame/committed.js').Commit[]} */
const POINTS = [
  [1, 0, 10],
  [2, 1_000, 20],
  [5, 2_000, 20],
  [9, 9_000, 20],
  [10, 9_500, 30],
];

test('an offset holds until the next commit: the line is flat between them and rises at each', () => {
  const path = pathOf(
    POINTS,
    (ms) => ms / 100,
    (offset) => 100 - offset,
    100,
  );
  assert.equal(path, 'M0.0 90.0H10.0V80.0H20.0V80.0H90.0V80.0H95.0V70.0H100.0');
});

test('a line ends where the commit was deleted, and begins anew with the next', () => {
  const path = pathOf(
    [
      [1, 0, 5],
      [2, 10, null],
      [3, 20, 6],
    ],
    (ms) => ms,
    (offset) => offset,
    30,
  );
  assert.equal(path, 'M0.0 5.0H10.0M20.0 6.0H30.0');
});

test('the longest flat part runs from the commit that reached an offset to the one that moved on', () => {
  assert.deepEqual(longestFlat(POINTS), { from: 2, from_ms: 1_000, to_ms: 9_500 });
  assert.equal(longestFlat([[1, 0, 10]]), null);
  assert.equal(longestFlat([]), null);
});

test('what comes after the last commit is no flat part: nobody knows whether another would have come', () => {
  assert.equal(
    longestFlat([
      [1, 0, 10],
      [2, 5_000, 10],
    ]),
    null,
  );
});

test('the line says how many commits there were, and where it was flat', () => {
  const line = { topic: 'foo', partition: 0, commits: 5, points: POINTS };
  assert.equal(
    committedWords(line, 0),
    '5 commits, from offset 10 to 30. The offset did not move for 8.5\u202fs from 1.0\u202fs on, its longest.',
  );
  assert.equal(committedWords({ ...line, points: [], commits: 0 }, 0), 'No offset of it was committed here.');
});

test('a track rises only at commits that moved the offset, and marks never stand closer than can be seen', () => {
  assert.deepEqual(
    rises(POINTS, (_, ms) => ms / 100, 0, 100),
    [0, 10, 95],
  );
  assert.deepEqual(
    rises(POINTS, (_, ms) => ms / 10_000, 0, 100),
    [0],
  );
  assert.deepEqual(
    rises(POINTS, (_, ms) => ms / 100, 5, 50),
    [10],
  );
});

test('a commit that is no step lies between the steps around it, by its time', () => {
  const moment = (/** @type {number} */ sequence, /** @type {number} */ at_ms) =>
    /** @type {any} */ ({ sequence, first: sequence, at_ms, says: '', shape: 'advance' });
  const steps = [moment(1, 0), moment(10, 1_000), moment(20, 3_000)];
  const at = scale({ axis: 'events', steps, window: { from: 0, to: 3 }, left: 0, right: 100, end_ms: 3_000 });
  assert.equal(at.between(10, 1_000), at.ofStep(1));
  assert.equal(at.between(15, 2_000), (at.ofStep(1) + at.ofStep(2)) / 2);
  assert.ok(at.between(30, 9_000) <= at.ofStep(3));
});

test('what a line is flat for is told with what is certain and what is inferred, the longest of them, by time', () => {
  const shades = shadesOf({
    key: 'foo-1',
    silences: [
      {
        member: 'a',
        from_ms: 0,
        to_ms: 9_000,
        from_sequence: 1,
        to_sequence: 9,
        ended: 'resumed',
        partitions: [
          { topic: 'foo', partition: 1, from_ms: 500, from_sequence: 2 },
          { topic: 'foo', partition: 2, from_ms: 600, from_sequence: 3 },
        ],
      },
    ],
    bare: [
      { key: 'foo-1', from: 12, from_ms: 10_000, to_ms: null },
      { key: 'foo-0', from: 12, from_ms: 10_000, to_ms: null },
    ],
    name: (member) => member.toUpperCase(),
    none: 'Unassigned',
  });
  assert.deepEqual(
    shades.map(({ from, inferred, says }) => [from, inferred, says]),
    [
      [2, true, '8.5\u202fs assigned to A, which was silent (inferred)'],
      [12, false, 'until the end unassigned'],
    ],
  );
});

test('of a long timeline the commits around the playhead are asked for, and never more than the server reads', () => {
  assert.deepEqual(commitsWithin({ origin: 0, last: 500 }, 3), { from: 0, to: 500 });
  const long = { origin: 0, last: 1_000_000 };
  assert.deepEqual(commitsWithin(long, 500_000), { from: 400_000, to: 600_000 });
  assert.deepEqual(commitsWithin(long, 10), { from: 0, to: 200_000 });
  assert.deepEqual(commitsWithin(long, 999_999), { from: 800_000, to: 1_000_000 });
});
