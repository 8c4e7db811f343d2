import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { choicesAt, cursorAt, namesIn } from '../../static/js/scenario/places.js';
import { BUILT, built } from './vendor.js';

const TEXT = `topics:
  orders: {partitions: 6}  # the topic: of it all
  'pay ments': {partitions: 3}
members:
  A: {subscribe: [orders]}
  B:
    subscribe: [orders]
`;
/** @type {import('../../static/js/scenario/places.js').Place} */
const VOCABULARY = {
  keys: {
    semantics: { values: ['kafka', 'kip'] },
    topics: { any: { keys: { partitions: {}, rate: {} } } },
    members: { any: { keys: { subscribe: { names: ['topics'] }, auto_commit: { values: ['true', 'false'] } } } },
    script: {
      verbs: {
        kill: { sentence: 'it is gone', who: { names: ['members'] }, keys: {} },
        leave: { sentence: 'it leaves', who: { names: ['members'] }, keys: { how: { values: ['remain'] } } },
        set_config: { sentence: 'settings', who: { keys: { max_size: {} } }, keys: {} },
      },
    },
  },
};
const offered = (/** @type {string} */ text) =>
  choicesAt(text, text.length, VOCABULARY).choices.map(({ label }) => label);

test('a cursor knows its path in blocks and in lists of one line, in half a line too', () => {
  const at = (/** @type {string} */ text) => {
    const { path, atKey, word } = cursorAt(text);
    return [path.map((key) => key ?? '-').join('.'), atKey ? 'key' : 'value', word];
  };
  assert.deepEqual(at(''), ['', 'key', '']);
  assert.deepEqual(at('semantics: ka'), ['semantics', 'value', 'ka']);
  assert.deepEqual(at('members:\n  A: {sub'), ['members.A', 'key', 'sub']);
  assert.deepEqual(at('members:\n  A: {subscribe: [foo, o'), ['members.A.subscribe.-', 'value', 'o']);
  assert.deepEqual(at('members:\n  A: {subscribe: [foo], '), ['members.A', 'key', '']);
  assert.deepEqual(at('members:\n  A:\n    subscribe: [foo]\n    '), ['members.A', 'key', '']);
  assert.deepEqual(at('members:\n  A:\n    subscribe: [foo]\n  '), ['members', 'key', '']);
  assert.deepEqual(at('script:\n  - {at: 0s, join: A}\n  - {at: 3s, ki'), ['script.-', 'key', 'ki']);
  assert.deepEqual(at('script:\n- at: 3s\n  ki'), ['script.-', 'key', 'ki']);
  assert.deepEqual(at('script:\n  - '), ['script.-', 'key', '']);
  assert.deepEqual(at('script: [{at: 3s, kill: '), ['script.-.kill', 'value', '']);
  assert.deepEqual(at('script:\n  - {at: 0s, join: A}\nun'), ['', 'key', 'un']);
  assert.deepEqual(at('name: "a {b"\nsem'), ['', 'key', 'sem']);
});

test('keys, verbs, members and topics are offered where they may come, and no key twice', () => {
  assert.deepEqual(offered(`${TEXT}sem`), ['semantics', 'script']);
  assert.deepEqual(offered('semantics: '), ['kafka', 'kip']);
  assert.deepEqual(offered(`${TEXT}  C: {subscribe: [`), ['orders', 'pay ments']);
  assert.deepEqual(offered(`${TEXT}  C: {subscribe: [orders], `), ['auto_commit']);
  assert.deepEqual(offered(`${TEXT}script:\n  - {`), ['at', 'kill', 'leave', 'set_config']);
  assert.deepEqual(offered(`${TEXT}script:\n  - {at: 3s, kill: `), ['A', 'B']);
  assert.deepEqual(offered(`${TEXT}script:\n  - {at: 3s, kill: [A, `), ['A', 'B']);
  assert.deepEqual(offered(`${TEXT}script:\n  - {at: 3s, leave: A, `), ['how']);
  assert.deepEqual(offered(`${TEXT}script:\n  - {at: 3s, leave: A, how: `), ['remain']);
  assert.deepEqual(offered(`${TEXT}script:\n  - at: 3s\n    leave: A\n    how: `), ['remain']);
  assert.deepEqual(offered(`${TEXT}script:\n  - {at: 3s, set_config: {`), ['max_size']);
});

test('the text itself names members and topics, in blocks and on one line', () => {
  assert.deepEqual(namesIn(TEXT), { members: ['A', 'B'], topics: ['orders', 'pay ments'], group: ['scenario'] });
  assert.deepEqual(namesIn('group: g\nmembers: {A: {subscribe: [x]}, b-2: {regex: x}}'), {
    members: ['A', 'b-2'],
    topics: [],
    group: ['g'],
  });
});

test('the editor that is checked in is what the locked packages build', async () => {
  assert.equal(await built(), readFileSync(BUILT, 'utf8'));
});
