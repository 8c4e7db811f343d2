import assert from 'node:assert/strict';
import { test } from 'node:test';

import { watchLink } from '../../static/js/source/link.js';
import { ago, asStretch, isLoopback, isOrigin, linkWords } from '../../static/js/sharing/words.js';

const moment = (first, sequence, at_ms) => ({ first, sequence, at_ms });
const MOMENTS = [
  moment(1, 4, 0),
  moment(5, 9, 50_000),
  moment(10, 12, 100_000),
  moment(13, 20, 161_000),
  moment(21, 22, 90_000),
];

test('two minutes around a moment are the neighbours that are near, in whole moments', () => {
  assert.deepEqual(asStretch('around', 11, MOMENTS), { from: 5, to: 12 });
  assert.deepEqual(asStretch('around', 0, MOMENTS), { from: 1, to: 9 });
  assert.deepEqual(asStretch('around', 15, MOMENTS), { from: 13, to: 20 });
});

test('other stretches have one end, or none', () => {
  assert.deepEqual(asStretch('all', 11, MOMENTS), {});
  assert.deepEqual(asStretch('before', 11, MOMENTS), { to: 11 });
  assert.deepEqual(asStretch('after', 0, MOMENTS), { from: 1 });
  assert.deepEqual(asStretch('around', 11, null), {});
});

test('an origin is a scheme, a host and perhaps a port', () => {
  for (const good of ['https://wiki.example', 'http://localhost:8080']) assert.equal(isOrigin(good), true);
  for (const bad of ['wiki', 'https://wiki.example/', '*', 'https://wiki.example; script-src *', 'https://'])
    assert.equal(isOrigin(bad), false);
});

test('a link says what it shows and when it was last used', () => {
  const link = {
    id: 'x',
    kind: 'timeline',
    title: 'orders',
    token_end: 'abcd',
    view: 'reader',
    hides_names: true,
    who: 'anyone',
    first: 1,
    last: 9,
    embed_origins: [],
    created: '2026-11-22T10:00:00+00:00',
    until: '2026-11-29T10:00:00+00:00',
    state: 'open',
    opened: 0,
    last_opened: null,
    author: '',
    may_withdraw: true,
  };
  const now = Date.parse('2026-11-22T12:00:00Z');
  assert.deepEqual(linkWords(link, now), { what: 'reader, names hidden', use: 'never opened, until 2026-11-29' });
  assert.equal(
    linkWords({ ...link, opened: 4, last_opened: '2026-11-22T11:58:00Z' }, now).use,
    'opened 4 times, last 2 min ago, until 2026-11-29',
  );
  assert.equal(
    linkWords({ ...link, opened: 1, last_opened: '2026-11-22T11:58:00Z' }, now).use,
    'opened once, 2 min ago, until 2026-11-29',
  );
  assert.equal(
    linkWords({ ...link, kind: 'cell', title: '6 members, one joins' }, now).what,
    'a seed of a sweep: 6 members, one joins, names hidden',
  );
  assert.equal(
    linkWords({ ...link, who: 'signed-in', author: 'ada' }, now).what,
    'reader, names hidden, by ada, signed in',
  );
  assert.equal(linkWords({ ...link, state: 'withdrawn' }, now).use, 'withdrawn');
  assert.equal(
    linkWords({ ...link, hides_names: false, embed_origins: ['https://wiki.example'] }, now).what,
    'reader, names shown, frame on https://wiki.example',
  );
  assert.equal(ago(3 * 3_600_000), '3 hours ago');
});

test('an address of this machine alone is known, and no other is taken for one', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', 'app.localhost'])
    assert.ok(isLoopback(host), host);
  for (const host of ['links.example', '10.0.0.7', 'localhost.example', '128.0.0.1', '[fe80::1]'])
    assert.ok(!isLoopback(host), host);
});

test('whoever is signed out while a link plays is led to where one signs in', async () => {
  const asked = [];
  const answers = [0, 200, 401];
  await new Promise((reload) => {
    watchLink({
      page: { body: { dataset: { link: 'state' } }, location: { reload } },
      onEnd: () => assert.fail('the link has not ended'),
      ask: async (url) => ({ status: answers[asked.push(url) - 1] }),
      later: (run) => run(),
    });
  });
  assert.deepEqual(asked, ['state', 'state', 'state']);
});
