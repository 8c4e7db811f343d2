import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isMereCommit, keySteps } from '../../static/js/shared/key-steps.js';
import { beginsIn, ProblemSteps } from '../../static/js/panels/problems.js';
import { troubledOf } from '../../static/js/frame/hardships.js';
import { silentOf, unreadOf, unreadWords } from '../../static/js/frame/unread.js';
import { duration, memberWords } from '../../static/js/frame/words.js';
import { FRAMES, MOMENTS } from './fixtures/basic.js';

const last = FRAMES[FRAMES.length - 1];
const client = (what) => ({ owned: {}, revoking: {}, calling: null, heartbeat_ms: 0, ...what });
const says = (unread) =>
  unreadWords(
    unread,
    (member) => member,
    (key) => key,
  );

test('a group is converged and nobody reads what a killed process is assigned', () => {
  const unread = unreadOf({ ...last, clients: { A: client({ killed: true }), B: client({}) } }, [], last);
  assert.deepEqual(unread, [{ member: 'A', keys: ['foo-0'], why: 'killed' }]);
  assert.equal(says(unread), 'Not read: foo-0 (A was killed)');
});

test('a silent member is told as inferred, from its last commit until it ended', () => {
  const silence = {
    member: 'B',
    from_ms: 0,
    to_ms: null,
    from_sequence: 10,
    to_sequence: null,
    ended: 'open',
    partitions: [
      { topic: 'foo', partition: 2, from_ms: 0, from_sequence: 10 },
      { topic: 'foo', partition: 9, from_ms: 0, from_sequence: 10 },
    ],
  };
  const at = (sequence, at_ms) => unreadOf(last, [silence], { sequence, at_ms });
  assert.equal(says(at(99, 3_400)), `foo-2: assigned to B, silent: last commit ${duration(3_400)} ago (inferred)`);
  assert.equal(says(at(10, 0)), 'foo-2: assigned to B, silent from this commit on (inferred)');
  assert.deepEqual(at(9, 0), []);
  assert.deepEqual(unreadOf(last, [{ ...silence, to_sequence: 99 }], { sequence: 99, at_ms: 3_400 }), []);
});

test('every silent member is marked after its last commit, which changes no frame, and owns nothing in words', () => {
  const silent = (member, partition, from_sequence) => ({
    ...{ member, from_ms: from_sequence, to_ms: null, from_sequence, to_sequence: null, ended: 'open' },
    partitions: [{ topic: 'foo', partition, from_ms: from_sequence, from_sequence }],
  });
  const [first, second] = [last.sequence + 1, last.sequence + 2];
  const unread = unreadOf(last, [silent('A', 0, first), silent('B', 2, second)], {
    sequence: second,
    at_ms: second + 400,
  });
  assert.deepEqual(
    [...silentOf(unread)],
    [
      ['A', 401],
      ['B', 400],
    ],
  );
  for (const [member, ms] of silentOf(unread)) {
    const lane = memberWords(last, member, (key) => key, ms);
    assert.deepEqual([lane.says, lane.brief], [`Silent: last commit ${duration(ms)} ago`, 'Silent']);
    assert.equal(memberWords(last, member, (key) => key).says, 'Owns its target');
  }
  assert.deepEqual(
    troubledOf(last, null, silentOf(unread)).map(({ member }) => member),
    ['A', 'B'],
  );
});

test('where all is read nothing is said', () => {
  assert.deepEqual(unreadOf(last, [], last), []);
});

test('a story pauses at the first step of each kind that teaches something, and never twice in a row', () => {
  const pauses = [...keySteps(MOMENTS)].map(
    (sequence) => MOMENTS.findIndex((moment) => moment.sequence === sequence) + 1,
  );
  assert.deepEqual(
    pauses.map((step) => MOMENTS[step - 1].shape),
    ['target', 'advance', 'acknowledge', 'revoke'],
  );
  pauses.forEach((step, index) => assert.ok(index === 0 || step - pauses[index - 1] >= 2));
  assert.ok(!pauses.includes(MOMENTS.length));
});

test('the next problem lies behind the whole moment at which the board rests, the last one before it', () => {
  const next = (/** @type {{first: number, last: number}} */ at, /** @type {1 | -1} */ direction) =>
    new ProblemSteps([5, 9, 20].map((sequence) => ({ sequence, at_ms: null, says: '' }))).next(at, direction);
  assert.equal(next({ first: 4, last: 9 }, 1), 2);
  assert.equal(next({ first: 9, last: 12 }, -1), 0);
  assert.equal(next({ first: 4, last: 30 }, 1), -1);
  assert.equal(next({ first: 4, last: 4 }, -1), -1);
});

test('problems that begin in one moment are visited one after the other, there and back', () => {
  const steps = new ProblemSteps([5, 9, 20].map((sequence) => ({ sequence, at_ms: null, says: '' })));
  const at = { first: 4, last: 10 };
  steps.reach(0, at);
  assert.equal(steps.next(at, 1), 1);
  steps.reach(1, at);
  assert.equal(steps.next(at, 1), 2);
  assert.equal(steps.next(at, -1), 0);
  steps.reach(2, { last: 20 });
  assert.equal(steps.next({ first: 20, last: 20 }, 1), -1);
  assert.equal(steps.next(at, 1), 2);
});

test('the board stops at a moment in which a problem begins', () => {
  const troubled = beginsIn([5, 9].map((sequence) => ({ sequence, at_ms: null, says: '' })));
  const held = [
    [4, 4],
    [5, 5],
    [6, 8],
    [8, 12],
  ].filter(([first, sequence]) => troubled({ ...MOMENTS[0], first, sequence }));
  assert.deepEqual(held, [
    [5, 5],
    [8, 12],
  ]);
});

test('a commit is passed over, unless a row of a narration ends with it', () => {
  assert.ok(isMereCommit({ ...MOMENTS[0], shape: 'commit', step: null }));
  assert.ok(!isMereCommit({ ...MOMENTS[0], shape: 'commit', step: 3 }));
  assert.ok(!isMereCommit({ ...MOMENTS[0], shape: 'revoke', step: null }));
});
