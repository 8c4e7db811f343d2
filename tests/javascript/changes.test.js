import assert from 'node:assert/strict';
import { test } from 'node:test';

import { apply, unapply } from '../../static/js/frame/changes.js';
import { CHANGES, EMPTY, FRAMES } from './fixtures/basic.js';

test('applying all changes gives the last frame, and taking them back gives the first', () => {
  const last = FRAMES[FRAMES.length - 1];
  assert.deepEqual(apply(EMPTY, CHANGES), last);
  assert.deepEqual(unapply(last, CHANGES), EMPTY);
});

test('a side that is left out is absent, which is not null', () => {
  const frame = { members: { A: { rack_id: null } } };
  const gone = apply(frame, [{ sequence: 1, path: ['members', 'A', 'rack_id'], old: null }]);
  assert.deepEqual(gone, { members: { A: {} } });
  assert.deepEqual(unapply(gone, [{ sequence: 1, path: ['members', 'A', 'rack_id'], old: null }]), frame);
  const nothing = apply(frame, [{ sequence: 1, path: ['clients'], new: null }]);
  assert.equal('clients' in nothing, true);
});

test('a frame that somebody holds stays what it was, and what did not change is shared', () => {
  const before = structuredClone(FRAMES[2]);
  const after = apply(FRAMES[2], [{ sequence: 99, path: ['members', 'A', 'epoch'], old: 1, new: 9 }]);
  assert.deepEqual(FRAMES[2], before);
  assert.equal(after.topics, FRAMES[2].topics);
  assert.notEqual(after.members, FRAMES[2].members);
});

test('a member that comes or goes as a whole is one change', () => {
  const with_ = apply(EMPTY, [{ sequence: 1, path: ['members', 'A'], new: FRAMES[0].members.A }]);
  assert.deepEqual(Object.keys(with_.members), ['A']);
  assert.deepEqual(unapply(with_, [{ sequence: 1, path: ['members', 'A'], new: FRAMES[0].members.A }]), EMPTY);
});
