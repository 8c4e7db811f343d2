import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseExactly } from '../../static/js/shared/exact.js';
import { parsed } from '../../static/js/shared/parsed.js';

test('hidden characters of names are shown, as keys and as values, and what joins letters stays', () => {
  const text = JSON.stringify({
    'a\u202eb': ['\u2066x\u2069', 'plain', '\ufeff', '👩\u200d💻', 'می\u200cخواهم', '\\u202e'],
  });
  const shown = { 'a\\u202eb': ['\\u2066x\\u2069', 'plain', '\\ufeff', '👩\u200d💻', 'می\u200cخواهم', '\\u202e'] };
  assert.deepEqual(parsed(text), shown);
  assert.deepEqual(parseExactly(text), shown);
});
