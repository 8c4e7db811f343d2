import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { wordsIn } from '../../static/js/panels/explained.js';

const glossary = readFileSync(new URL('../../docs/reference/glossary.md', import.meta.url), 'utf8').toLowerCase();
const has = (word) => glossary.includes(word);
const words = (says) => wordsIn(says, has).map(({ text, word }) => [text, word]);

test('words that a newcomer cannot know explain themselves where they first stand', () => {
  assert.deepEqual(words("A's session expired (session timeout 10.0 s)"), [['session timeout', 'session timeout']]);
  assert.deepEqual(words('A is fenced: it is no longer a member (UNKNOWN_MEMBER_ID) and has to rejoin'), [
    ['fenced', 'fenced'],
    ['UNKNOWN_MEMBER_ID', 'unknown_member_id'],
  ]);
  assert.deepEqual(words('Its callback runs, fresh heartbeats, state UNREVOKED, nothing reported'), [
    ['callback', 'callback'],
    ['heartbeats', 'heartbeat'],
    ['UNREVOKED', 'unrevoked_partitions'],
  ]);
});

test('a word is explained once, and none that the glossary does not have', () => {
  assert.deepEqual(words('A heartbeats, then B heartbeats'), [['heartbeats', 'heartbeat']]);
  assert.deepEqual(words('refused: SOME_OTHER_ERROR'), []);
});
