import assert from 'node:assert/strict';
import test from 'node:test';

import { isStillToCome, leadIn, missingMoment, openingOf, opensAtWorst } from '../../static/js/timeline/opening.js';

const timeline = { origin: 0, last: 90 };
const imported = /** @type {any} */ ({ source: 'import', status: 'complete', worst: 42 });

test('an import opens at its worst moment, and at its end where nothing went wrong', () => {
  assert.equal(openingOf(imported, '', timeline), 42);
  assert.equal(openingOf({ ...imported, worst: null }, '', timeline), 90);
});

test('a link to a moment opens there, and Space plays from there', () => {
  assert.equal(openingOf(imported, '?at=7', timeline), 7);
  assert.equal(opensAtWorst(imported, '?at=7'), false);
  assert.equal(opensAtWorst(imported, ''), true);
  assert.equal(openingOf({ ...imported, opens: 12 }, '', timeline), 12);
  assert.equal(openingOf({ ...imported, opens: 12 }, '?at=7', timeline), 7);
  assert.equal(opensAtWorst({ ...imported, opens: 12 }, ''), false);
});

test('a case study opens at its beginning, a timeline that grows at its end', () => {
  assert.equal(openingOf({ ...imported, source: 'case-study' }, '', timeline), 0);
  assert.equal(openingOf({ ...imported, status: 'running' }, '', timeline), 90);
});

test('Space plays from ten seconds before the worst moment', () => {
  const steps = /** @type {any} */ ([1, 5, 12, 19, 21].map((s, index) => ({ sequence: index + 1, at_ms: s * 1000 })));
  const rest = /** @type {any} */ ({ sequence: 5, moment: { at_ms: 21_000 } });
  assert.equal(leadIn({ steps, rest, origin: 0 }), 2);
  assert.equal(leadIn({ steps: steps.slice(2), rest, origin: 0 }), 0);
});

test('a moment that is not there is said, unless it may still come', () => {
  const stretch = { origin: 59, last: 90 };
  assert.equal(missingMoment(imported, '', stretch), null);
  assert.equal(missingMoment(imported, '?at=59', stretch), null);
  assert.equal(missingMoment(imported, '?at=90', stretch), null);
  for (const at of [7, 1234])
    assert.match(missingMoment(imported, `?at=${at}`, stretch) ?? '', /is not here: there are entries 60 to 90/);
  assert.equal(missingMoment({ ...imported, status: 'running' }, '?at=1234', stretch), null);
});

test('only a run that goes on can still bring the moment of a link', () => {
  const running = { ...imported, status: 'running' };
  assert.equal(isStillToCome(running, '?at=91', timeline), true);
  assert.equal(isStillToCome(running, '?at=90', timeline), false);
  assert.equal(isStillToCome(running, '', timeline), false);
  assert.equal(isStillToCome(imported, '?at=91', timeline), false);
});
