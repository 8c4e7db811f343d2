import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cast } from '../../static/js/frame/cast.js';
import { chainOf } from '../../static/js/panels/events.js';
import { parseExactly } from '../../static/js/shared/exact.js';
import { fieldsOf, recordName } from '../../static/js/panels/fields.js';
import { ACTIONS, bindingsOf, keyCap, matching } from '../../static/js/panels/actions.js';
import { keyName, mayTake } from '../../static/js/shared/keys.js';
import { Labels } from '../../static/js/frame/labels.js';
import { PAUSE_MS, Player, STEP_MS, stepMs } from '../../static/js/timeline/player.js';
import { Fingers } from '../../static/js/shared/pinch.js';
import { scale, windowOf } from '../../static/js/timeline/scale.js';
import { heldSpan, zoomedSpan } from '../../static/js/timeline/zoom.js';
import { nameable } from '../../static/js/panels/topic-names.js';
import { momentOf, rangeOf, withMoment } from '../../static/js/shared/url.js';
import { FRAMES, MOMENTS } from './fixtures/basic.js';

const settle = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 0);
  });

test('the address names a moment, and nothing else is taken for one', () => {
  assert.equal(momentOf('?at=45'), 45);
  for (const bad of ['', '?at=', '?at=-1', '?at=x', '?at=1e3', '?at=9999999999999999'])
    assert.equal(momentOf(bad), null);
  assert.equal(withMoment('http://here/t/x?play=1&q=2', 9), 'http://here/t/x?q=2&at=9');
});

test('integers of 64 bits keep their digits, and nothing else is changed', () => {
  const text =
    '{"metadataHash":-8123456789012345678,"says":"at 9007199254740993 \\" 9007199254740993","list":[9007199254740991,0.12345678901234567,1e300]}';
  assert.deepEqual(parseExactly(text), {
    metadataHash: '-8123456789012345678',
    says: 'at 9007199254740993 " 9007199254740993',
    list: [9007199254740991, Number('0.12345678901234567'), 1e300],
  });
  const [field] = fieldsOf(parseExactly('{"metadataHash":-8123456789012345678}'), FRAMES[0], 'record');
  assert.equal(field.value, '-8123456789012345678');
});

test('keys are never taken from somebody who types, nor Space from a button', () => {
  const press = (key, tagName, more = {}) => ({ key, target: { tagName }, ...more });
  assert.equal(keyName({ key: ' ' }), 'Space');
  assert.equal(keyName({ key: 'ArrowLeft', shiftKey: true }), 'Shift+ArrowLeft');
  assert.equal(keyName({ key: 'C', shiftKey: true }), 'c');
  assert.deepEqual([keyName({ key: 'k', ctrlKey: true }), keyName({ key: 'C', metaKey: true })], ['Ctrl+k', 'Ctrl+c']);
  assert.equal(mayTake(press('c', 'BODY'), false), true);
  for (const tag of ['INPUT', 'TEXTAREA', 'SELECT']) assert.equal(mayTake(press('c', tag), false), false);
  assert.equal(mayTake(press(' ', 'BUTTON'), false), false);
  assert.equal(mayTake(press('ArrowRight', 'BUTTON'), false), true);
  // Enter follows a link, Space does nothing with it; and nobody presses what stands in a dialog that has closed.
  assert.deepEqual([mayTake(press('Enter', 'A'), false), mayTake(press(' ', 'A'), false)], [false, true]);
  const gone = {
    tagName: 'BUTTON',
    closest: (/** @type {string} */ selector) => (selector === 'dialog:not([open])' ? {} : null),
  };
  assert.equal(mayTake({ ...press(' ', 'BUTTON'), target: gone }, false), true);
  assert.equal(mayTake(press('k', 'INPUT', { ctrlKey: true }), false), false);
  assert.equal(mayTake(press('c', 'BODY'), true), false);
});

test('the player takes step after step and stops at the end', async () => {
  const timers = [];
  const states = [];
  let left = 3;
  let clock = 0;
  const player = new Player({
    next: async () => {
      clock += 100;
      return (left -= 1) >= 0;
    },
    onState: (playing, speed) => states.push([playing, speed]),
    later: (run, ms) => timers.push({ run, ms }),
    never: () => {},
    now: () => clock,
  });
  player.play();
  await settle();
  player.setSpeed(2);
  assert.equal(timers.at(-1).ms, STEP_MS / 2);
  while (player.playing) {
    clock += timers.at(-1).ms;
    timers.at(-1).run();
    await settle();
    // The next step is due a step after this one was, however long this one took.
    if (player.playing) assert.equal(timers.at(-1).ms, STEP_MS / 2 - 100);
  }
  assert.equal(left, -1);
  assert.deepEqual(states.at(-1), [false, 2]);
  player.shift(-1);
  player.shift(-1);
  player.shift(-1);
  assert.equal(player.speed, 0.5);
});

test('a step lasts as long as the pace has it: always the same, by the clock, or by the clock without long pauses', () => {
  const of = (gap) => ['steps', 'time', 'compressed'].map((pace) => stepMs(pace, gap));
  assert.deepEqual(of(500), [STEP_MS, 500, 500]);
  assert.deepEqual(of(3_600_000), [STEP_MS, 3_600_000, PAUSE_MS]);
  assert.ok(of(0).every((ms) => ms > 0));
  assert.deepEqual(of(null), [STEP_MS, STEP_MS, STEP_MS]);
});

test('each key of a board does one thing, and has a cap in the list of keys', () => {
  const keys = ACTIONS.flatMap((action) => action.keys);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(new Set(ACTIONS.map(({ id }) => id)).size, ACTIONS.length);
  assert.deepEqual(['Shift+ArrowLeft', 'Ctrl+k', '?', 'Space'].map(keyCap), ['⇧ ←', 'Ctrl K', '?', 'Space']);
  const done = [];
  const bindings = bindingsOf({ play: () => done.push('play'), palette: () => done.push('palette') });
  for (const key of ['Space', 'Ctrl+k']) bindings[key]();
  assert.deepEqual([done, Object.keys(bindings).length], [['play', 'palette'], 2]);
  assert.deepEqual(
    matching(ACTIONS, 'EPOCH forw').map(({ id }) => id),
    ['epoch-on'],
  );
});

test('a pause while a step is under way holds', async () => {
  let finish;
  const timers = [];
  const player = new Player({
    next: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
    onState: () => {},
    later: (run) => timers.push(run),
    never: () => {},
  });
  player.play();
  player.pause();
  finish(true);
  await settle();
  assert.equal(player.playing, false);
  assert.deepEqual(timers, []);
});

test('a long timeline shows a window that holds the playhead', () => {
  assert.deepEqual(windowOf(16, 5), { from: 0, to: 16 });
  for (let position = 0; position <= 1000; position += 1) {
    const { from, to } = windowOf(1000, position);
    assert.equal(to - from, 80);
    assert.ok(from <= Math.max(0, position - 1) && position <= to, `position ${position} in ${from}-${to}`);
  }
});

test('on the axis of events steps stand equally far apart; on that of time by their times', () => {
  const options = { steps: MOMENTS, window: { from: 0, to: 16 }, left: 100, right: 900, end_ms: 30_000 };
  const events = scale({ axis: 'events', ...options });
  const gaps = MOMENTS.slice(1).map((_, index) => Math.round(events.ofStep(index + 1) - events.ofStep(index)));
  assert.equal(new Set(gaps).size, 1);
  const time = scale({ axis: 'time', ...options });
  assert.ok(time.ofStep(3) - time.ofStep(2) > 5 * (time.ofStep(2) - time.ofStep(1)));
  for (const at of [events, time]) {
    MOMENTS.forEach((moment, index) => assert.equal(at.ofStep(at.nearest(at.ofStep(index))), at.ofStep(index)));
    assert.equal(at.of(MOMENTS[4].sequence, MOMENTS[4].at_ms), at.ofStep(4));
    assert.ok(at.of(null) > at.ofStep(15));
  }
});

test('the chain of a step goes back to its first cause and on to what it brought about', () => {
  const causes = [0, 1, 2, 0, 4, 5, 5, 7, 8, 0, 10, 11, 11, 11, 14, 15];
  const chain = chainOf(MOMENTS, 13, (step) => (causes[step.step - 1] ? causes[step.step - 1] * 3 : null));
  assert.deepEqual(
    [...chain].sort((a, b) => a[0] - b[0]),
    [
      [10, 9],
      [13, 10],
      [14, 13],
      [15, 14],
    ],
  );
});

test("fields are written with topic names, Kafka's states and what a reader would have to work out", () => {
  const frame = FRAMES[6];
  const response = fieldsOf(
    {
      errorCode: 0,
      memberEpoch: 1,
      assignment: { topicPartitions: [{ topicId: 'cLledStpRu6ixDUvA4jVgA', partitions: [0, 1] }] },
    },
    frame,
    'response',
  );
  assert.deepEqual(
    response.map(({ name, value, note }) => [name, value, note]),
    [
      ['errorCode', '0 NONE', ''],
      ['memberEpoch', '1', 'still the old epoch'],
      ['assignment', 'foo [0, 1]', ''],
    ],
  );
  const record = fieldsOf({ state: 1, assignedPartitions: [], value: null }, frame, 'record');
  assert.deepEqual(
    record.map(({ value }) => value),
    ['1 UNREVOKED_PARTITIONS', '[]', 'null'],
  );
  assert.equal(fieldsOf({ TopicPartitions: null }, frame, 'request')[0].value, 'null (unchanged)');
  const group = fieldsOf({ generation: 3, members: [{ memberId: 'A' }, { memberId: 'B' }] }, frame, 'record');
  assert.deepEqual(
    group.map(({ name, value, depth }) => [name, value, depth]),
    [
      ['generation', '3', 0],
      ['members', '2', 0],
      ['memberId', 'A', 1],
      ['memberId', 'B', 1],
    ],
  );
  assert.equal(recordName(8), 'ConsumerGroupCurrentMemberAssignment');
  assert.equal(recordName(31), 'Record of type 31');
});

test('several topics are told apart by a shape before the name', () => {
  const labels = new Labels();
  labels.meet(['foo']);
  assert.equal(labels.marked('foo'), 'foo');
  labels.meet(['foo', 'bar']);
  assert.deepEqual([labels.marked('bar'), labels.marked('foo')], ['● bar', '■ foo']);
  assert.equal(labels.partition('cLledStpRu6ixDUvA4jVgA-2'), 'cLledS…-2');
});

test('topics that stand under their id can be named, and names be taken back', () => {
  const id = 'cLledStpRu6ixDUvA4jVgA';
  const topics = { foo: { id: 'Qm3xW1oLR7G0cT5uYzE8sA', partitions: 1 }, [id]: { id, partitions: 3 } };
  assert.deepEqual(nameable({ summary: { topics }, topic_names: {} }), [{ id, name: null }]);
  assert.deepEqual(nameable({ summary: { topics: {} }, topic_names: { [id]: 'orders' } }), [{ id, name: 'orders' }]);
});

test('no two lanes have the same letters, and a restart beside the one before keeps its hue and letters with a mark', () => {
  const cast = new Cast(['app-a', 'web-a', 'job-a', 'app-b'].map((name) => ({ id: `id of ${name}`, name })));
  cast.meet([{ id: 'second', name: 'app-a~2' }]);
  assert.equal(cast.lane('second').key, 'app-a');
  cast.meetFrame({ members: { 'id of app-a': {}, second: {} } });
  const [first, again] = [cast.lane('id of app-a'), cast.lane('second')];
  assert.deepEqual([first.badge, again.badge, again.hue], ['a', 'a′', first.hue]);
  const badges = cast.lanes.map(({ badge }) => badge);
  assert.equal(new Set(badges).size, badges.length);
  assert.ok(badges.every((badge) => badge.length <= 3));
  assert.deepEqual(new Set(cast.lanes.map(({ hue }) => hue)).size, 4);
  const many = new Cast(Array.from({ length: 90 }, (_, at) => ({ id: `${at}`, name: `host-${at}.zone-a` })));
  assert.equal(new Set(many.lanes.map(({ badge }) => badge)).size, 90);
});

test('a zoom keeps its place, and neither leaves what there is nor gets narrower than can be seen', () => {
  assert.deepEqual(zoomedSpan([0, 100], 0.5, 0.25, [0, 100], 3), [12.5, 62.5]);
  assert.deepEqual(zoomedSpan([40, 50], 100, 0.5, [0, 100], 3), [0, 100]);
  assert.deepEqual(zoomedSpan([0, 10], 0.001, 0, [0, 100], 3), [0, 3]);
  assert.deepEqual(heldSpan([90, 120], [0, 100]), [70, 100]);
  assert.deepEqual(heldSpan([-20, 10], [0, 100]), [0, 30]);
  assert.deepEqual(rangeOf('?range=3-9', 'range'), { from: 3, to: 9 });
  for (const bad of ['', '?range=9-3', '?range=3', '?range=a-b', '?zoom=3-9'])
    assert.equal(rangeOf(bad, 'range'), null);
});

test('a window of time has its edges, and what lasts through it is shown though no step lies in it', () => {
  const steps = [0, 9_000, 10_000, 12_000, 18_500].map((at_ms, index) => ({ sequence: index + 1, at_ms }));
  const of = (window) => scale({ axis: 'time', steps, window, left: 0, right: 1000, end_ms: 20_000 });
  const time = of({ from: 1, to: 4, from_ms: 8_000, to_ms: 18_000 });
  assert.equal(Math.round(time.ofStep(2) - time.ofStep(1)), 95);
  const between = of({ from: 4, to: 4, from_ms: 13_000, to_ms: 14_000 });
  assert.deepEqual(
    [between.shows(2, 5), between.shows(2, null), between.shows(1, 3), between.shows(5, null)],
    [true, true, false, false],
  );
});

test('two fingers zoom by how far they go apart, and one does nothing', () => {
  const fingers = new Fingers();
  const touch = (pointerId) => ({ pointerType: 'touch', pointerId });
  fingers.down(touch(1), 100);
  assert.equal(fingers.move(touch(1), 110), null);
  fingers.down(touch(2), 210);
  assert.deepEqual(fingers.move(touch(2), 310), { by: 0.5, middle: 210, off: -50 });
  fingers.up(touch(1));
  assert.equal(fingers.move(touch(2), 300), null);
});
