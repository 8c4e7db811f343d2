import assert from 'node:assert/strict';
import { test } from 'node:test';

import { badgeOf, Cast } from '../../static/js/frame/cast.js';
import { duration, list, memberWords, nowWords, shortened, shownName, when } from '../../static/js/frame/words.js';
import { partitionsOf } from '../../static/js/frame/view.js';
import { EMPTY, FRAMES, MOMENTS } from './fixtures/basic.js';

const plain = (text) => text.replaceAll('\u202f', ' ');
const cast = new Cast(['A', 'B', 'C'].map((id) => ({ id, name: id })));
const now = (step) => nowWords(FRAMES[step - 1], MOMENTS[step - 1], partitionsOf(FRAMES[step - 1]), cast, (key) => key);

test('durations are told to a tenth of a second below a minute', () => {
  assert.deepEqual(
    [0, 4, 50, 600, 59_949, 59_960, 242_000, 3_660_000, 90_000_000].map((ms) => plain(duration(ms))),
    ['0.0 s', '4 ms', '0.1 s', '0.6 s', '59.9 s', '1 min 0 s', '4 min 2 s', '1 h 1 min', '1 d 1 h'],
  );
});

test('a simulation is told in seconds, a log in the time of day', () => {
  assert.equal(plain(when(27_500, 0)), '27.5 s');
  assert.match(when(1_700_000_000_000, 1_700_000_000_000), /^\d{1,2}.\d{2}.\d{2}/);
});

test('a name without a visible character has a mark in its place', () => {
  assert.deepEqual(['orders', '', ' ', '\n', '.', 'группа', '日本'].map(shownName), [
    'orders',
    '(empty name)',
    '(blank name: U+0020)',
    '(blank name: U+000A)',
    '.',
    'группа',
    '日本',
  ]);
});

test('long lists are counted', () => {
  assert.equal(list(['a', 'b', 'c']), 'a, b, c');
  assert.equal(list(['a', 'b', 'c', 'd', 'e']), 'a, b and 3 more');
});

test("what a member does is said in words, with Kafka's name beside it", () => {
  const says = (step, member) => memberWords(FRAMES[step - 1], member, (key) => key);
  assert.equal(says(1, 'A').says, 'Joined; no target assignment yet');
  assert.equal(says(2, 'A').says, 'Joined; no assignment received yet');
  assert.equal(says(4, 'A').says, 'Has not received epoch 2 yet (next heartbeat)');
  assert.equal(says(5, 'A').says, 'Has not received epoch 2 yet (next heartbeat)');
  assert.equal(says(6, 'B').says, 'Waiting for foo-2');
  assert.deepEqual(says(7, 'A'), {
    says: 'Revoking foo-2',
    brief: 'Revoking',
    kafka: 'UNREVOKED_PARTITIONS',
    term: 'unrevoked_partitions',
  });
  assert.equal(says(9, 'B').says, 'Owns its target');
});

test('who waits for two is told of both', () => {
  const state = (/** @type {number[]} */ owned) => ({
    epoch: 5,
    assigned: { foo: owned },
    revoking: {},
    state: 'STABLE',
  });
  const frame = {
    ...FRAMES[12],
    group_epoch: 5,
    assignment_epoch: 5,
    members: {
      A: { ...FRAMES[12].members.A, ...state([0, 1]), epoch: 4 },
      B: { ...FRAMES[12].members.B, ...state([2, 3]), epoch: 4 },
      C: { ...FRAMES[12].members.C, ...state([]) },
    },
    target: { A: { foo: [0] }, B: { foo: [2] }, C: { foo: [1, 3] } },
  };
  const moment = { ...MOMENTS[12], actor: 'C' };
  const says = nowWords(frame, moment, partitionsOf(frame), cast, (key) => key);
  assert.match(says, /It waits until A has released foo-1, B has released foo-3\.$/);
});

test('the sentence of a moment says what it means for who waits', () => {
  assert.equal(
    nowWords(EMPTY, null, new Map(), cast, (key) => key, true),
    'The log begins in the middle: what was before its first entry is not known.',
  );
  assert.equal(
    nowWords(EMPTY, null, new Map(), cast, (key) => key),
    'No member yet.',
  );
  const waiting = partitionsOf({ ...EMPTY, target: { A: { foo: [0] } } });
  assert.equal(
    nowWords(EMPTY, null, waiting, cast, (key) => key),
    'No member yet. Every partition is unassigned.',
  );
  assert.equal(now(1), 'A joins. There is no target yet.');
  assert.equal(now(4), 'B joins. The target is still the one of epoch 1.');
  assert.equal(now(11), 'Target computed: foo-1 goes to C. A still owns it; it has not been asked to revoke it yet.');
  assert.equal(now(13), 'C moves to member epoch 3; foo-1 is still owned by A. It waits until A has released foo-1.');
  assert.equal(now(14), 'A is asked to revoke foo-1. It stays at epoch 2 until it has confirmed the revocation.');
  assert.equal(
    now(15),
    'A confirms the revocation; foo-1 is released. Released is not assigned: foo-1 is unassigned until C heartbeats.',
  );
  assert.equal(now(16), 'C gets foo-1. Every member owns its target: the group is stable at epoch 3.');
});

test('a case study speaks for itself', () => {
  const moment = { ...MOMENTS[0], narration: 'A is the first to come.' };
  assert.equal(
    nowWords(FRAMES[0], moment, new Map(), cast, (key) => key),
    'A is the first to come.',
  );
});

test('a member that comes back stays in its lane and colour; the seventh is grey', () => {
  const many = new Cast(['A', 'B', 'A~2', 'C', 'D', 'E', 'F', 'G'].map((id) => ({ id, name: id })));
  assert.equal(many.lane('A~2').key, 'A');
  assert.deepEqual(
    ['A', 'B', 'F', 'G'].map((id) => many.lane(id).hue),
    ['0', '1', '5', 'x'],
  );
});

test('what stands in a disc is short', () => {
  assert.deepEqual(['A', 'c-041', 'orders-consumer-2', 'jX3vQ0uPRb6x5dC1aW2k8A'].map(badgeOf), ['A', '041', '2', '8A']);
});

test('where there is little room, partitions of one topic are named once', () => {
  assert.equal(shortened('A gets foo-0, foo-1, foo-2'), 'A gets foo-0, 1, 2');
  assert.equal(
    shortened('bar-0, bar-1, foo-3 go to enrich-2; foo-4 goes to B'),
    'bar-0, 1, foo-3 go to enrich-2; foo-4 goes to B',
  );
  assert.equal(shortened('enrich-1, enrich-2 joined'), 'enrich-1, 2 joined');
  assert.equal(shortened('a.b_c-d-1, a.b_c-d-12 are unassigned'), 'a.b_c-d-1, 12 are unassigned');
  assert.equal(shortened('foo-1, barfoo-1, foo-2'), 'foo-1, barfoo-1, foo-2');
});

test('a classic member whose assignment cannot be read is not said to have nothing, and a Connect worker runs tasks', () => {
  const of = (member) =>
    memberWords(
      { ...EMPTY, group_epoch: undefined, generation: 4, state: 'Stable', members: { A: member } },
      'A',
      String,
    ).says;
  assert.equal(of({ assigned: {} }), 'Member, reads nothing');
  assert.equal(
    of({ assigned: null, unreadable: { assignment: 'a version needs 2 bytes, 1 is left' } }),
    'Member, its assignment cannot be read (a version needs 2 bytes, 1 is left)',
  );
  const worker = { url: 'http://w-1:8083/', config_offset: 9, connectors: ['sink'], delay_ms: 0, failed: false };
  assert.equal(of({ assigned: { sink: [0, 1] }, worker }), 'Member, runs 1 connector and 2 tasks');
  assert.equal(
    plain(of({ assigned: {}, worker: { ...worker, connectors: [], delay_ms: 300_000 } })),
    'Member, runs nothing; joins again after 5 min 0 s',
  );
  assert.equal(
    of({ assigned: {}, worker: { ...worker, failed: true } }),
    'Member, was assigned nothing: its leader was behind the config topic',
  );
});

test('a classic member of a consumer group is shown with how far it is with joining again', () => {
  const of = (rebalance_state) =>
    memberWords(
      {
        ...EMPTY,
        group_epoch: 23,
        assignment_epoch: 23,
        members: { C: { protocol: 'classic', epoch: 23, state: 'STABLE', rebalance_state, assigned: {} } },
      },
      'C',
      String,
    );
  assert.equal(of('CompletingRebalance').says, 'Joined; receives its assignment with SyncGroup');
  assert.deepEqual(
    ['Stable', 'CompletingRebalance', null].map((state) => of(state).kafka),
    ['STABLE, Stable', 'STABLE, CompletingRebalance', 'STABLE'],
  );
});
