import assert from 'node:assert/strict';
import test from 'node:test';

import { differences } from '../../static/js/panels/state-view.js';

test('a step changes each value once, from before its first entry to after its last', () => {
  const changes = [
    { sequence: 4, path: ['sequence'], old: 3, new: 4 },
    { sequence: 4, path: ['offsets', 'foo'], old: 1, new: 2 },
    { sequence: 4, path: ['members', 'A', 'epoch'], old: 3, new: 4 },
    { sequence: 5, path: ['state'], old: 'Stable', new: 'Assigning' },
    { sequence: 5, path: ['members', 'A', 'epoch'], old: 4, new: 5 },
    { sequence: 6, path: ['state'], old: 'Assigning', new: 'Stable' },
    { sequence: 6, path: ['members', 'B'], old: { epoch: 1 } },
  ];
  assert.deepEqual(differences(changes), [
    { path: ['members', 'A', 'epoch'], old: 3, new: 5 },
    { path: ['members', 'B'], old: { epoch: 1 }, new: undefined },
    { path: ['offsets', 'foo'], old: 1, new: 2 },
  ]);
});
