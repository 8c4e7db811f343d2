import assert from 'node:assert/strict';
import test from 'node:test';

import {
  cameWords,
  choiceOf,
  choices,
  differsWords,
  movedWords,
  nextWords,
} from '../../static/js/frame/next-assignment.js';

const name = (id) => id.toUpperCase();
const moved = { partition: 'foo-1', before: 'a', after: 'b' };

test('a choice is a member that leaves, one that joins, or nothing', () => {
  assert.deepEqual(
    choices(['a'], name).map(([value]) => choiceOf(value)),
    [{ leaves: 'a' }, { joins: true }],
  );
  assert.deepEqual(choiceOf(''), {});
});

test('what is foretold says for which epoch, by whom, and how much moves', () => {
  const next = { epoch: 7, is_due: true, target: {}, moves: [moved] };
  assert.equal(
    nextWords({ next, assignor: 'uniform' }),
    'Foretold for group epoch 7 by uniform, which is due: 1 partition moved.',
  );
  assert.equal(
    nextWords({ next: { ...next, epoch: null, is_due: false, moves: [] }, assignor: 'range' }),
    'Foretold for the next target by range: nothing moved.',
  );
  assert.equal(nextWords({ next: null, why: 'Nobody is there.' }), 'Nobody is there.');
});

test('what came is compared, and a difference names both', () => {
  const came = { epoch: 7, equal: 3, of: 4, differences: [moved] };
  assert.equal(cameWords({ came }), 'The target of epoch 7 came otherwise: 3 of 4 partitions as predicted.');
  assert.equal(
    cameWords({ came: { ...came, equal: 4 } }),
    'The target of epoch 7 came as predicted: 4 of 4 partitions as predicted.',
  );
  assert.equal(cameWords({ came: null }), '');
  assert.equal(movedWords({ ...moved, before: null }, name), 'foo-1: unassigned → B');
  assert.equal(differsWords({ ...moved, after: null }, name), 'foo-1: predicted A, came nobody');
});
