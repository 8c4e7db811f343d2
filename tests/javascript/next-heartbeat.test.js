import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cast } from '../../static/js/frame/cast.js';
import { arrivesBy, obstacleOf, ofIt, receivesNext, untilNamed } from '../../static/js/frame/next-heartbeat.js';
import { partitionsOf } from '../../static/js/frame/view.js';
import { memberWords, nowWords } from '../../static/js/frame/words.js';
import { FRAMES, MOMENTS } from './fixtures/basic.js';

const label = (key) => key;
const client = (what) => ({ owned: {}, revoking: {}, calling: null, heartbeat_ms: 0, ...what });
const released = FRAMES[14];
const withC = (what) => ({ ...released, clients: { C: client(what) } });
const until = (frame, member = 'C') => untilNamed(frame, member, member, label);

test('a partition that is unassigned waits for the heartbeat of its target owner', () => {
  assert.equal(obstacleOf(released, 'C'), null);
  assert.equal(until(released), 'C heartbeats');
});

test('a process that is killed, paused or cut off sends no heartbeat that would bring it anything', () => {
  assert.equal(until(withC({ killed: true })), 'C’s session expires');
  assert.equal(until(withC({ paused: true })), 'C runs again, or its session expires');
  assert.equal(until(withC({ cut: ['anybody'] })), 'C is connected again, or its session expires');
});

test('a member that is revoking, or has yet to be asked, gets nothing before it has confirmed that', () => {
  const revoking = {
    ...released,
    members: { ...released.members, C: { ...released.members.C, pending_revocation: { foo: [9] } } },
  };
  assert.equal(until(revoking), 'C has confirmed its revocation');
  const holding = {
    ...released,
    members: { ...released.members, C: { ...released.members.C, assigned: { foo: [8] } } },
  };
  assert.equal(until(holding), 'C has revoked foo-8');
  assert.equal(receivesNext(holding, 'C', label), 'Is asked to revoke foo-8 in its next heartbeat response');
});

test('who was removed and still stands in the target gets nothing: the next target names another', () => {
  const { C: _, ...members } = released.members;
  assert.equal(until({ ...released, members }), 'the next target assignment is computed');
});

test('a static member that left for now may return', () => {
  const away = { ...released, members: { ...released.members, C: { ...released.members.C, epoch: -2 } } };
  assert.equal(until(away), 'C returns, or its session expires');
});

test('of the member that a sentence is about it says "it" and "its"', () => {
  assert.equal(ofIt('’s session expires'), 'its session expires');
  assert.equal(ofIt(' has confirmed its revocation'), 'it has confirmed its revocation');
});

test('the sentence of a moment promises no heartbeat that cannot come', () => {
  const cast = new Cast(['A', 'B', 'C'].map((id) => ({ id, name: id })));
  const frame = withC({ killed: true });
  assert.equal(
    nowWords(frame, MOMENTS[14], partitionsOf(frame), cast, label),
    'A confirms the revocation; foo-1 is released. Released is not assigned: foo-1 is unassigned until C’s session expires.',
  );
});

test('a classic member of a consumer group is made to rejoin by its heartbeat, and receives its epoch with JoinGroup and SyncGroup', () => {
  const member = (what) => ({ ...released.members.C, protocol: 'classic', ...what });
  const epoch = released.group_epoch;
  const frame = { ...released, members: { ...released.members, C: member({ epoch: epoch - 1 }) } };
  const asked = 'Its next heartbeat is answered REBALANCE_IN_PROGRESS. ';
  const by = 'with its next JoinGroup and SyncGroup';
  assert.equal(until(frame), 'C rejoins');
  assert.equal(receivesNext(frame, 'C', label), `${asked}Receives epoch ${epoch} ${by}`);
  assert.equal(
    receivesNext({ ...frame, members: { ...frame.members, C: member({ assigned: { foo: [8] } }) } }, 'C', label),
    `${asked}Is asked to revoke foo-8 ${by}`,
  );
  assert.equal(
    receivesNext({ ...frame, assignment_epoch: epoch - 1 }, 'C', label),
    `Its heartbeats are answered REBALANCE_IN_PROGRESS once the target is computed. Receives epoch ${epoch} ${by}`,
  );
  assert.match(memberWords(frame, 'C', label).says, /\(next JoinGroup\)$/);
  assert.equal(arrivesBy(released, 'C'), 'in its next heartbeat response');
});
