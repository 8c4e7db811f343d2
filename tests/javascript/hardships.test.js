import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cast } from '../../static/js/frame/cast.js';
import {
  coordinatorWords,
  expressionOf,
  hardshipsOf,
  looksLike,
  outsiders,
  outsiderWords,
  replacedBy,
  stillReads,
  troubledOf,
  violationsOf,
} from '../../static/js/frame/hardships.js';
import { Labels } from '../../static/js/frame/labels.js';
import { Spans } from '../../static/js/frame/spans.js';
import { EMPTY, FRAMES, MOMENTS } from './fixtures/basic.js';

const FRAME = FRAMES[8];
const client = (what) => ({ owned: {}, revoking: {}, calling: null, heartbeat_ms: 0, ...what });
const suffering = (member, what) => ({ ...FRAME, clients: { [member]: client(what) } });
const says = (member, what) => hardshipsOf(suffering(member, what), member).map((one) => one.says);

test('what a member suffers is said in words, the worst first', () => {
  assert.deepEqual(says('A', {}), []);
  assert.deepEqual(says('A', { paused: true, cut: ['broker-2'], fenced: 'FENCED_MEMBER_EPOCH' }), [
    'Fenced: abandons its partitions and rejoins',
    'Paused',
    'Cut off from broker-2',
  ]);
  assert.deepEqual(says('A', { cut: ['anybody'], clock_ms: -5000 }), ['Cut off', 'Clock 5.0\u202fs behind']);
  assert.deepEqual(says('A', { clock_ms: 20 }), []);
  assert.deepEqual(says('A', { computing: true }), ['Computes the assignment']);
});

test('a client that was removed and still reads stands outside until it has let go', () => {
  const frame = suffering('Z', { owned: { foo: [1] } });
  assert.deepEqual(outsiders(frame), ['Z']);
  assert.deepEqual(stillReads(frame, 'Z'), ['foo-1']);
  assert.equal(outsiderWords(frame, 'Z').says, 'Removed; the client has not been notified (zombie)');
  assert.equal(outsiderWords(suffering('Z', { owned: { foo: [1] }, paused: true }), 'Z').says, 'Removed; paused');
  assert.equal(
    outsiderWords(suffering('Z', { owned: { foo: [1] }, fenced: 'UNKNOWN_MEMBER_ID' }), 'Z').says,
    'Fenced: abandons its partitions',
  );
  assert.deepEqual(outsiders(suffering('Z', {})), []);
  assert.deepEqual(outsiders(suffering('A', { owned: { foo: [1] } })), []);
});

test('whoever suffers something is listed, the worst first, and who computes an assignment is not', () => {
  const clients = {
    A: client({ paused: true }),
    B: client({ computing: true }),
    Z: client({ fenced: 'UNKNOWN_MEMBER_ID' }),
  };
  assert.deepEqual(troubledOf({ ...FRAME, clients }, null), [
    { member: 'Z', says: ['Fenced: has to rejoin'], bad: true },
    { member: 'A', says: ['Paused'], bad: false },
  ]);
  const violation = { sequence: 9, says: '', invariant: 'one_holder', members: ['B'], keys: [], proof: [] };
  assert.deepEqual(troubledOf(FRAME, violation), [{ member: 'B', says: ['Part of the broken invariant'], bad: true }]);
});

test('a coordinator is named from its fail-over on, and loads until its time has come', () => {
  const told = (at_ms) =>
    coordinatorWords({ ...FRAME, at_ms, coordinator: { name: 'broker-2', epoch: 1, loading_until_ms: 9000, cut: [] } });
  assert.equal(coordinatorWords(FRAME), null);
  assert.equal(told(7000).says, 'broker-2 loads for 2.0\u202fs more');
  assert.equal(told(9000).says, 'coordinator broker-2');
});

test('an expression tells what it matched where a record does', () => {
  const members = { A: { ...FRAME.members.A, subscribed_regex: 'f.*' } };
  assert.deepEqual(expressionOf({ ...FRAME, members }, 'A'), { regex: 'f.*', topics: null });
  assert.deepEqual(expressionOf({ ...FRAME, members, regexes: { 'f.*': ['foo'] } }, 'A'), {
    regex: 'f.*',
    topics: ['foo'],
  });
  assert.equal(expressionOf(FRAME, 'A'), null);
});

test('a static member took the place of the one before it, a restarted one of nobody', () => {
  const cast = new Cast([
    { id: 'A~2', name: 'A~2' },
    { id: 'A~3', name: 'A~3' },
  ]);
  const frame = {
    ...FRAME,
    members: {
      'A~2': { assigned: {}, instance_id: 'w' },
      'A~3': { assigned: {}, instance_id: 'w' },
      'B~2': { assigned: {} },
    },
  };
  assert.equal(replacedBy(frame, 'A~2', cast), 'A');
  assert.equal(replacedBy(frame, 'A~3', cast), 'A~2');
  assert.equal(replacedBy(frame, 'B~2', cast), null);
});

test('a restarted process has a lane of its own while the one before it is still a member', () => {
  const cast = new Cast([
    { id: 'C', name: 'C' },
    { id: 'C~2', name: 'C~2' },
    { id: 'C~3', name: 'C~3' },
  ]);
  const frame = (...members) => ({
    ...FRAME,
    members: Object.fromEntries(members.map((id) => [id, { assigned: {} }])),
  });
  cast.meetFrame(frame('C', 'C~2'));
  assert.deepEqual([cast.lane('C').key, cast.lane('C~2').key], ['C', 'C~2']);
  cast.meetFrame(frame('C~3'));
  assert.equal(cast.lane('C~3').key, 'C');
});

test('a violation has its members, its partitions and what proves it', () => {
  const finding = {
    kind: 'violation',
    says: 'x',
    invariant: 'one_holder',
    at: 9,
    sequences: [4, 9],
    members: ['A'],
    partitions: { foo: [1] },
    certain: true,
  };
  assert.deepEqual(violationsOf({ findings: [finding, { ...finding, kind: 'moves' }] }), [
    { sequence: 9, says: 'x', invariant: 'one_holder', keys: ['foo-1'], members: ['A'], proof: [4] },
  ]);
});

test('a deleted topic keeps its name, and says that it is the old one', () => {
  const labels = new Labels();
  labels.remember({ MigwOQgGRfKi9YRGy4Qkqw: { id: 'MigwOQgGRfKi9YRGy4Qkqw', partitions: null, was: 'retries' } });
  assert.equal(labels.partition('MigwOQgGRfKi9YRGy4Qkqw-1'), 'old retries-1');
});

test('spans keep who coordinated, who loaded, who suffered and what broke', () => {
  const spans = new Spans(new Cast());
  spans.start(EMPTY);
  const coordinator = { name: 'broker-2', epoch: 1, loading_until_ms: FRAMES[5].at_ms, cut: [] };
  MOMENTS.forEach((moment, index) => {
    const frame = { ...FRAMES[index] };
    if (index >= 4) frame.coordinator = coordinator;
    if (index === 6 || index === 7) frame.clients = { A: client({ paused: true }) };
    spans.add(index === 8 ? { ...moment, shape: 'violation', says: 'x' } : moment, frame);
  });
  assert.deepEqual(
    spans.coordinators.map(({ name, from, to }) => [name, from / 3, to]),
    [['broker-2', 5, null]],
  );
  assert.deepEqual(
    spans.loads.map(({ from, to }) => [from / 3, to / 3]),
    [[5, 6]],
  );
  assert.deepEqual(
    spans.hard.map(({ lane, kind, from, to }) => [lane, kind, from / 3, to / 3]),
    [['A', 'paused', 7, 9]],
  );
  assert.deepEqual(
    spans.violations.map(({ sequence, says: words }) => [sequence / 3, words]),
    [[9, 'x']],
  );
});

test('why a member was removed is told with its moment where it is inferred, and only then', () => {
  const removed = (at, short) => ({ kind: 'removed', says: '', sequences: [3, at], short });
  const summary = {
    findings: [
      removed(9, 'its session expired, 6.0 s, as given'),
      removed(20, ''),
      { kind: 'joined', says: '', sequences: [9] },
    ],
  };
  assert.equal(
    looksLike(summary, { first: 8, sequence: 10 }),
    'Looks like its session expired, 6.0 s, as given (inferred).',
  );
  assert.equal(looksLike(summary, { first: 18, sequence: 22 }), '');
  assert.equal(looksLike({}, { first: 1, sequence: 2 }), '');
});
