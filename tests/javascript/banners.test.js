import assert from 'node:assert/strict';
import test from 'node:test';

import { liveSays } from '../../static/js/banners.js';

test('the banner of a live group says that its log is followed, or how often it is polled', () => {
  assert.match(liveSays({ provenance: 'recorded' }), /^Followed: every record/);
  assert.match(liveSays({ provenance: 'inferred', polled_every_s: 0.5 }), /^Polled .* every 0.5 s, and more often/);
  // While nobody watches, no period is told.
  assert.match(liveSays({ provenance: 'inferred', polled_every_s: null }), /^Polled from the group’s coordinator;/);
});
