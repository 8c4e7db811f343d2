import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cast } from '../../static/js/frame/cast.js';
import { Causes } from '../../static/js/frame/causes.js';
import { bands, Spans } from '../../static/js/frame/spans.js';
import { pack } from '../../static/js/timeline/tracks.js';
import { EMPTY, FRAMES, MOMENTS } from './fixtures/basic.js';

function spansOf() {
  const spans = new Spans(new Cast());
  spans.start(EMPTY);
  MOMENTS.forEach((moment, index) => spans.add(moment, FRAMES[index]));
  return spans;
}

const told = (spans, key) =>
  spans.spans
    .filter((span) => span.key === key)
    .map((span) => `${span.lane} ${span.mode} ${span.from / 3}-${span.to === null ? 'end' : span.to / 3}`);

test('the spans of a partition tell who owned it, gave it up and waited for it, from step to step', () => {
  assert.deepEqual(told(spansOf(), 'foo-1'), [
    'A want 2-3',
    'A own 3-14',
    'C want 11-16',
    'A revoking 14-15',
    'C own 16-end',
  ]);
});

test('stretches without an owner begin with the first member and end with a gain', () => {
  const spans = spansOf();
  assert.deepEqual(
    spans.bare.map(({ key, from, to, from_ms, to_ms }) => [key, from / 3, to / 3, to_ms - from_ms]),
    [
      ['foo-0', 1, 3, 1000],
      ['foo-1', 1, 3, 1000],
      ['foo-2', 1, 3, 1000],
      ['foo-2', 8, 9, 500],
      ['foo-1', 15, 16, 600],
    ],
  );
  assert.deepEqual(
    bands(spans.bare).map((band) => band.keys),
    [['foo-0', 'foo-1', 'foo-2'], ['foo-2'], ['foo-1']],
  );
});

test('epochs and group states follow each other without holes', () => {
  const spans = spansOf();
  assert.deepEqual(
    spans.epochs.map(({ epoch, sequence }) => [epoch, sequence / 3]),
    [
      [1, 1],
      [2, 4],
      [3, 10],
    ],
  );
  assert.deepEqual(
    spans.states.map(({ state, from }) => `${state} ${from / 3}`),
    [
      'Empty 0',
      'Assigning 1',
      'Reconciling 2',
      'Stable 3',
      'Assigning 4',
      'Reconciling 5',
      'Stable 9',
      'Assigning 10',
      'Reconciling 11',
      'Stable 16',
    ],
  );
  assert.equal(spans.mostMembers, 3);
});

test('a partition keeps its row of a track, and rows are shared only where spans never meet', () => {
  const { placed, rows } = pack(spansOf().spans.filter((span) => span.lane === 'A'));
  assert.equal(rows, 3);
  const rowOf = new Map();
  for (const { span, row } of placed) {
    assert.equal(rowOf.get(span.key) ?? row, row);
    rowOf.set(span.key, row);
  }
});

test('each step has the cause that the protocol gives it', () => {
  const causes = new Causes();
  causes.start(EMPTY);
  MOMENTS.forEach((moment, index) => causes.add(moment, FRAMES[index]));
  const found = MOMENTS.map((moment) => (causes.of(moment) ?? 0) / 3);
  //                        1  2  3  4  5  6  7  8  9 10  11  12  13  14  15  16
  assert.deepEqual(found, [0, 1, 2, 0, 4, 5, 5, 7, 8, 0, 10, 11, 11, 11, 14, 15]);
});
