import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  BEGINNING,
  duration,
  edited,
  lineOf,
  milliseconds,
  put,
  renamed,
  sketchOf,
  withEvent,
  withMember,
  withTopic,
} from '../../static/js/scenario/document.js';

/** @type {import('../../static/js/scenario/places.js').Place} */
const ONE_MEMBER = { names: ['members'] };
/** @type {import('../../static/js/scenario/places.js').Place} */
const TOPICS = { names: ['topics'], many: true };
/** @type {import('../../static/js/scenario/places.js').Place} */
const VOCABULARY = {
  keys: {
    topics: { any: { keys: { partitions: {} } } },
    members: { any: { keys: { subscribe: TOPICS } } },
    script: {
      verbs: {
        join: { sentence: 'it starts', needs: [], who: ONE_MEMBER, keys: {} },
        kill: { sentence: 'it is gone', needs: [], who: ONE_MEMBER, keys: {} },
        subscribe: { sentence: 'it reads', needs: [], who: ONE_MEMBER, keys: { topics: TOPICS } },
        network: { sentence: 'messages fare', needs: [], who: { keys: { loss: {} } }, keys: {} },
      },
    },
    steps: { keys: { after: { keys: { join: ONE_MEMBER } } } },
  },
};
const TEXT = `# the head
name:   x   # of it


topics:
  orders: {partitions: 6}   # all
members:
  A: {subscribe: [orders]}
  B:   {subscribe:   [orders], protocol: classic}
# before the script
script:
  - {at: 0s, join: [A, B]}  # both
  - at: 12s
    kill: A
  # and then
  - {at: 20s, subscribe: B, topics: [orders]}
  - {at: 30s, network: {loss: 0.1}}
  - {at: soon, kill: B}
steps:
  - after: {join: A}
    says: >
      A   joins
      here
# the tail
`;

test('a text is sketched as members, topics and events, and what cannot be drawn is named', () => {
  const { members, topics, events, until_ms, others } =
    sketchOf(TEXT, VOCABULARY) ?? assert.fail('the text is a scenario');
  assert.deepEqual(
    members.map(({ name, keys }) => [name, keys.protocol]),
    [
      ['A', undefined],
      ['B', 'classic'],
    ],
  );
  assert.deepEqual(topics, [{ name: 'orders', keys: { partitions: 6 } }]);
  assert.deepEqual(
    events.map(({ place, verb, who, at_ms }) => [place, verb, who.join(' '), at_ms]),
    [
      [0, 'join', 'A B', 0],
      [1, 'kill', 'A', 12_000],
      [2, 'subscribe', 'B', 20_000],
      [3, 'network', '', 30_000],
    ],
  );
  assert.deepEqual(others, [['steps'], ['script', 4]]);
  assert.equal(until_ms, 90_000);
  assert.equal(lineOf(TEXT, ['script', 4]), 18);
});

test('a text that is no YAML or no mapping has no sketch and is not changed', () => {
  for (const text of ['{', 'a', '- a', 'members: *nobody', 'a: 1\na: 2', 'a: "']) {
    assert.equal(sketchOf(text, VOCABULARY), null, text);
  }
  assert.equal(put('{', ['until'], '1s'), '{');
  for (const text of ['', '# only a comment\n', 'members: 3\nscript: {}\ntopics: [a]'])
    assert.deepEqual(sketchOf(text, VOCABULARY)?.events, [], text);
});

test('an edit changes its own line, and keeps each other letter', () => {
  assert.equal(
    edited(TEXT, () => {}),
    TEXT,
  );
  assert.equal(put(TEXT, ['script', 1, 'at'], '13s'), TEXT.replace('at: 12s', 'at: 13s'));
  assert.equal(put(TEXT, ['topics', 'orders', 'partitions'], 8).replace('8} #', '6}   #'), TEXT);
  assert.equal(put(TEXT, ['members', 'B', 'protocol'], undefined), TEXT.replace(/B: .*/, 'B: {subscribe: [orders]}'));
  assert.equal(put(TEXT, ['script', 1], undefined), TEXT.replace('  - at: 12s\n    kill: A\n', ''));
  assert.equal(put(TEXT, ['until'], '40s'), TEXT.replace('# the tail\n', 'until: 40s\n# the tail\n'));
});

test('an event is added where its time is, and the indentation of lists stays', () => {
  const { text, place } = withEvent(TEXT, 'kill', 'B', 15_000);
  assert.equal(place, 2);
  assert.equal(text, TEXT.replace('  # and then', '  - {at: 15s, kill: B}\n  # and then'));
  const flat = 'members: {A: {}}\nscript:\n- {at: 0s, join: A}\n';
  assert.equal(withEvent(flat, 'kill', 'A', 1500).text, `${flat}- {at: 1.5s, kill: A}\n`);
});

test('from an empty page members and topics are added that make a scenario', () => {
  const sketch = (/** @type {string} */ text) => sketchOf(text, VOCABULARY) ?? assert.fail(text);
  const one = withMember('', sketch('')).text;
  const two = withMember(one, sketch(one)).text;
  assert.equal(
    withTopic(two, sketch(two)).text,
    `topics:
  orders: {partitions: 6}
  topic-2: {partitions: 6}
members:
  A: {subscribe: [orders]}
  B: {subscribe: [orders]}
script:
  - {at: 0s, join: A}
  - {at: 0s, join: B}
`,
  );
  assert.deepEqual(sketch(BEGINNING).others, []);
});

test('a new name is written wherever the old one was, and one that is removed takes its events along', () => {
  const text = renamed(TEXT, 'members', 'A', 'alpha', VOCABULARY);
  assert.equal(text.match(/alpha/g)?.length, 4);
  assert.doesNotMatch(text, /\bA\b(?! {3}joins)/);
  assert.match(renamed(TEXT, 'topics', 'orders', 'o2', VOCABULARY), /A: \{subscribe: \[o2\]\}[^]*topics: \[o2\]/);
  const without = sketchOf(renamed(TEXT, 'members', 'A', undefined, VOCABULARY), VOCABULARY);
  assert.deepEqual(without?.members.length, 1);
  assert.deepEqual(
    without?.events.map(({ verb }) => verb),
    ['join', 'subscribe', 'network'],
  );
  assert.deepEqual(without?.events[0].who, ['B']);
});

test('durations are read and written as a scenario has them', () => {
  for (const [text, ms] of /** @type {const} */ ([
    ['1.5s', 1500],
    ['500ms', 500],
    ['2m', 120_000],
    ['0', 0],
    [0, 0],
    [3, null],
    ['', null],
  ]))
    assert.equal(milliseconds(text), ms);
  assert.equal(duration(1500), '1.5s');
});
