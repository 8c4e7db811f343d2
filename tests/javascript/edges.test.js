/** Edges of the modules without a page: the first and the last of something, and what counts as none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isEditable } from '../../static/js/bytes/edits.js';
import { within } from '../../static/js/bytes/marks.js';
import { nameOf, sinceText } from '../../static/js/bytes/words.js';
import { Cast } from '../../static/js/frame/cast.js';
import { hardshipsOf } from '../../static/js/frame/hardships.js';
import { Ownership } from '../../static/js/frame/ownership.js';
import { stepsBefore } from '../../static/js/shared/slots.js';
import { Spans } from '../../static/js/frame/spans.js';
import { stretchesOf } from '../../static/js/source/stretches.js';
import { Timeline } from '../../static/js/timeline/timeline.js';
import { scale } from '../../static/js/timeline/scale.js';
import { unreadOf, unreadWords } from '../../static/js/frame/unread.js';
import { memberWords, nowWords } from '../../static/js/frame/words.js';
import { partitionsOf } from '../../static/js/frame/view.js';
import { EMPTY, FRAMES, MOMENTS, chunks } from './fixtures/basic.js';

const last = FRAMES[FRAMES.length - 1];
const same = (key) => key;
const client = (what) => ({ owned: {}, revoking: {}, calling: null, heartbeat_ms: 0, ...what });

// -- what is not read

test('a client that is well and reads everything is not told of', () => {
  assert.deepEqual(unreadOf({ ...last, clients: { A: client({}), B: client({}) } }, []), []);
});

test('a killed process that is assigned nothing leaves nothing unread', () => {
  const members = { ...last.members, A: { ...last.members.A, assigned: {} } };
  assert.deepEqual(unreadOf({ ...last, members, clients: { A: client({ killed: true }) } }, []), []);
});

test('to three partitions are named, more are counted', () => {
  const unread = (count) => [{ member: 'A', keys: Array.from({ length: count }, (_, n) => `foo-${n}`), why: 'paused' }];
  assert.equal(unreadWords(unread(3), same, same), 'Not read: foo-0, foo-1, foo-2 (A is paused)');
  assert.equal(unreadWords(unread(4), same, same), 'Not read: 4 partitions (A is paused)');
});

// -- what a member does

test('a static member that left for a while is told apart from one that left', () => {
  const says = (epoch) =>
    memberWords({ ...last, members: { A: { ...last.members.A, epoch, assigned: {} } } }, 'A', same);
  assert.deepEqual(
    [says(-2).says, says(-2).brief, says(-2).term],
    ['Static leave: its instance may return', 'Left', 'away'],
  );
  assert.deepEqual([says(-1).says, says(-1).brief, says(-1).term], ['Left', 'Left', '']);
});

test('of what is wrong with a client a fence alone is bad', () => {
  const hard = (what) =>
    hardshipsOf({ ...last, clients: { A: client(what) } }, 'A').map(({ bad, duty }) => [bad, Boolean(duty)]);
  assert.deepEqual(hard({ fenced: 'FENCED_MEMBER_EPOCH' }), [[true, false]]);
  for (const what of [{ killed: true }, { paused: true }, { cut: ['B'] }, { clock_ms: 60_000 }, { clock_ms: -60_000 }])
    assert.deepEqual(hard(what), [[false, false]], JSON.stringify(what));
  assert.deepEqual(hard({ computing: true }), [[false, true]]);
  assert.deepEqual(hard({}), []);
  assert.deepEqual(hard({ cut: [] }), []);
});

const shared = (assigned) => ({
  ...EMPTY,
  protocol: 'share',
  state: 'Stable',
  group_epoch: 3,
  assignment_epoch: 3,
  target: { A: { foo: [0] } },
  topics: { foo: { id: null, partitions: 1 } },
  members: { A: { ...last.members.A, epoch: 3, assigned } },
});

test('of a share group it is said once every member reads what its target gives it, and not before', () => {
  const says = (frame) =>
    nowWords(
      frame,
      { ...MOMENTS[0], says: 'It happens.', shape: 'advance', actor: null },
      partitionsOf(frame),
      new Cast([{ id: 'A', name: 'A' }]),
      same,
    );
  const all = 'Every member reads what the target of epoch 3 gives it.';
  assert.ok(says(shared({ foo: [0] })).includes(all));
  assert.ok(!says(shared({})).includes(all));
  assert.ok(
    !says({ ...shared({}), target: {}, members: {} }).includes(all),
    'a target of nothing is reached by nobody',
  );
});

// -- bytes

const leaf = (type, more = {}) => ({ name: 'x', type, offset: 0, length: 1, prefix: 0, value: 1, ...more });

test('bytes are edited up to a bound, numbers and words always, and what has fields of its own never', () => {
  const bytes = (count) => leaf('bytes', { value: Buffer.alloc(count).toString('base64') });
  assert.deepEqual([isEditable(bytes(0)), isEditable(bytes(256)), isEditable(bytes(257))], [true, true, false]);
  for (const type of ['int8', 'uint16?', 'int64', 'bool', 'string?', 'uuid', 'float64'])
    assert.ok(isEditable(leaf(type)), type);
  for (const node of [
    leaf('struct', { fields: [] }),
    leaf('int8', { problem: { sentence: 'cut off' } }),
    leaf('int8', { name: '_rest0' }),
    leaf('array struct', { value: [] }),
  ])
    assert.equal(isEditable(node), false, node.type);
});

test('each byte of an extent is found among any number of them, and none between', () => {
  for (let count = 0; count < 9; count += 1) {
    const extents = Array.from({ length: count }, (_, index) => [index * 10 + 2, index * 10 + 5]);
    for (let byte = 0; byte < count * 10 + 10; byte += 1)
      assert.equal(
        within(extents, byte),
        extents.some(([from, to]) => byte >= from && byte < to),
        `${byte} of ${count}`,
      );
  }
});

test('the versions that have a field begin with the first one, which is 0 where none is told', () => {
  assert.equal(sinceText({ name: 'x' }), 'v0+');
  assert.equal(sinceText({ name: 'x', since: 2 }), 'v2+');
  assert.equal(sinceText({ name: 'x', until: 0 }), 'v0');
  assert.equal(sinceText({ name: 'x', since: 1, until: 4 }), 'v1–4');
  assert.deepEqual([sinceText({ name: '_tags' }), sinceText({ name: '0' })], ['', '']);
});

test('an element is named with its partitions from the first on, and with how many there are of many', () => {
  const element = (partitions) =>
    nameOf(
      leaf('struct', {
        fields: [
          leaf('string', { name: 'topic', value: 'foo' }),
          leaf('array int32', { name: 'partitions', value: partitions }),
        ],
      }),
    );
  assert.equal(element([4, 5]), 'foo 4 5');
  const many = element(Array.from({ length: 2000 }, (_, n) => n));
  assert.ok(many.startsWith('foo 0 1 2 '));
  assert.ok(many.endsWith(' … 2,000 in all'));
});

// -- timeline

test('how many steps stand before a chunk counts each chunk before it once, loaded or not', () => {
  const slots = [
    { data: null, moments: 5, steps: null },
    { data: { moments: [{ sequence: 1 }, { sequence: 2 }] }, moments: 2, steps: null },
    { data: null, moments: null, steps: null },
  ];
  const every = () => true;
  assert.deepEqual(
    [0, 1, 2, 3].map((index) => stepsBefore(slots, index, every)),
    [0, 5, 7, 7],
  );
});

test('a timeline that is here is sought at once, to its very beginning, and knows its end', async () => {
  const all = chunks(5);
  const timeline = new Timeline({
    chunks: all.map(({ first, last: end }) => ({ first, last: end })),
    load: async (first) => structuredClone(all.find((chunk) => chunk.first === first)),
  });
  assert.equal(timeline.seekLoaded(0), null, 'nothing is here yet');
  for (const moment of MOMENTS) await timeline.seek(moment.sequence);
  assert.equal(timeline.atEnd, true);
  const rest = timeline.seekLoaded(0);
  assert.deepEqual(rest.frame, EMPTY);
  assert.equal(rest.moment, null);
  assert.equal(timeline.atEnd, false);
  assert.equal(timeline.seekLoaded(MOMENTS[0].sequence).moment.step, MOMENTS[0].step);
  assert.equal(timeline.seekLoaded(MOMENTS.at(-2).sequence).moment.step, MOMENTS.at(-2).step);
  assert.equal(timeline.atEnd, false);
  timeline.seekLoaded(MOMENTS.at(-1).sequence);
  assert.equal(timeline.atEnd, true);
  await timeline.seek(MOMENTS[2].sequence);
  assert.equal(timeline.atEnd, false);
});

test('the steps of a window stand within it in order, and its first one at its left whatever came before', () => {
  const steps = Array.from({ length: 20 }, (_, index) => ({ sequence: index + 1, at_ms: index * 100 }));
  for (const axis of ['events', 'time']) {
    const whole = scale({
      axis,
      steps: steps.slice(5, 15),
      window: { from: 0, to: 10 },
      left: 10,
      right: 110,
      end_ms: 1400,
    });
    const part = scale({ axis, steps, window: { from: 5, to: 15 }, left: 10, right: 110, end_ms: 1900 });
    for (let index = 0; index < 10; index += 1) assert.equal(part.ofStep(5 + index), whole.ofStep(index), axis);
    const places = Array.from({ length: 10 }, (_, index) => part.ofStep(5 + index));
    for (let index = 1; index < 10; index += 1) assert.ok(places[index] > places[index - 1], axis);
    assert.ok(places[0] >= 10 && places.at(-1) <= 110, axis);
    assert.ok(part.ofStep(0) <= places[0], axis);
  }
});

// -- who owns what

test('a partition that nobody owns and that is in no target has neither holder nor target owner', () => {
  const ownership = new Ownership();
  const frame = { ...last, target: {} };
  ownership.start(frame);
  const view = ownership.of('foo-0');
  assert.equal(view.wants, null);
  assert.deepEqual(view.wanted, []);
  const empty = new Ownership();
  empty.start({ ...last, members: {} });
  const wanted = [...partitionsOf(last).values()].find(({ wants }) => wants);
  assert.equal(empty.of(wanted.key).holder, null);
  assert.equal(empty.of(wanted.key).wants, wanted.wants);
});

test('the partitions of a topic are free from the first to the last, as the topic grows and shrinks', () => {
  const frame = (partitions) => ({
    ...EMPTY,
    topics: { foo: { id: null, partitions } },
    members: { A: { ...last.members.A, epoch: 1, assigned: {}, subscribed: ['foo'] } },
  });
  const ownership = new Ownership();
  let before = frame(2);
  ownership.start(before);
  assert.deepEqual([...ownership.free].sort(), ['foo-0', 'foo-1']);
  for (const count of [4, 1, 3, 0]) {
    const after = frame(count);
    const path = ['topics', 'foo', 'partitions'];
    ownership.follow(after, [{ sequence: 1, path, old: before.topics.foo.partitions, new: count }], 0, 1);
    before = after;
    assert.deepEqual(
      [...ownership.free].sort(),
      Array.from({ length: count }, (_, n) => `foo-${n}`),
    );
  }
});

const window_ = (runs) => ({
  topics: [{ topic: 'foo', first_row: 0, partitions: 1 }],
  columns: { first: [1, 11, 21, 31, 41, 51], from_ms: [0, 100, 200, 300, 400, 500] },
  offsets: [0, runs.length],
  start: runs.map((_, place) => place),
  mode: runs.map(([mode]) => mode),
  owner: runs.map(([, owner]) => owner),
  lanes: ['A', 'B'],
});

test('a stretch without an owner is told from its first entry to the next owner, one that is absent not at all', () => {
  const found = stretchesOf(
    window_([
      [0, -1],
      [4, -1],
      [1, 0],
      [3, 0],
      [4, -1],
      [1, 1],
    ]),
    'foo-0',
  );
  assert.deepEqual(
    found.bare.map(({ from, to, from_ms, to_ms }) => [from, to, from_ms, to_ms]),
    [
      [11, 21, 100, 200],
      [41, 51, 400, 500],
    ],
  );
  assert.deepEqual(
    found.spans.map(({ lane, mode, from, to }) => [lane, mode, from, to]),
    [
      ['A', 'own', 21, 31],
      ['A', 'revoking', 31, 41],
      ['B', 'own', 51, null],
    ],
  );
  assert.deepEqual(stretchesOf(window_([[1, 0]]), 'foo-1'), { spans: [], bare: [] });
});

test('a column in which a partition was released is one without an owner, also where it tells who had it', () => {
  const found = stretchesOf(
    window_([
      [1, 0],
      [4, 0],
      [1, 0],
    ]),
    'foo-0',
  );
  assert.deepEqual(
    found.bare.map(({ from, to }) => [from, to]),
    [[11, 21]],
  );
  assert.deepEqual(
    found.spans.map(({ lane, from, to }) => [lane, from, to]),
    [
      ['A', 1, 11],
      ['A', 21, null],
    ],
  );
});

test('what a client suffers is seen when the client alone has changed', () => {
  const spans = new Spans(new Cast([{ id: 'A', name: 'A' }]));
  spans.start(EMPTY);
  const moments = MOMENTS.slice(0, 3);
  spans.add(moments[0], { ...FRAMES[0], clients: { A: client({}) } });
  const one = { ...FRAMES[0], clients: { A: client({}) } };
  spans.add(moments[1], one);
  const before = spans.hard.length;
  spans.add(moments[2], { ...one, clients: { A: client({ paused: true }) } });
  assert.equal(spans.hard.length, before + 1);
});
