import assert from 'node:assert/strict';
import test from 'node:test';

import { viewOf, withView } from '../../static/js/panels/reading.js';

test('a case study opens for a reader, an import for an investigator', () => {
  assert.equal(viewOf('', 'case-study', null), 'reader');
  assert.equal(viewOf('', 'import', null), 'investigator');
});

test('what was chosen before is kept, and a link overrules it', () => {
  assert.equal(viewOf('?at=3', 'case-study', 'investigator'), 'investigator');
  assert.equal(viewOf('?view=reader', 'case-study', 'investigator'), 'reader');
  assert.equal(viewOf('?view=nonsense', 'import', 'nonsense'), 'investigator');
});

test('what was shared opens as it was meant, and an address overrules that', () => {
  assert.equal(viewOf('?at=3', 'case-study', 'reader', 'investigator'), 'investigator');
  assert.equal(viewOf('?view=reader', 'case-study', null, 'investigator'), 'reader');
});

test('a link keeps the view beside all else', () => {
  assert.equal(withView('http://localhost/t/a?at=3', 'reader'), 'http://localhost/t/a?at=3&view=reader');
});
