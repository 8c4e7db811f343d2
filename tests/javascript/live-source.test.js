import assert from 'node:assert/strict';
import test from 'node:test';

import { ServerClock, recordedWords, sourceWords } from '../../static/js/live/live-source.js';

const NOW = 1_795_000_000_000;
const LIVE = {
  now_ms: NOW,
  looked_ms: NOW - 400,
  every_s: 2,
  mode: 'following',
  status: 'connected',
  problem: '',
  is_watched: true,
  condition: 'seen',
  state: 'Stable',
  state_since_ms: NOW - 76_000,
  rebalancing: false,
  since_ms: null,
  members: 2,
  skew_ms: null,
};
const says = (more = {}, now = NOW) => sourceWords({ provenance: 'recorded', live: { ...LIVE, ...more } }, now);

test('a live group says that its log is followed, or how often it is polled', () => {
  assert.match(recordedWords({ provenance: 'recorded' }), /^Followed: every record/);
  assert.match(
    recordedWords({ provenance: 'inferred', live: { ...LIVE, every_s: 0.5 } }),
    /^Polled .* every 0.5 s, and more often/,
  );
  // While nobody watches, no period is said.
  assert.match(recordedWords({ provenance: 'inferred', live: null }), /^Polled from the group’s coordinator;/);
});

test('a live board says the state that the coordinator described, with its age, and the age of the look', () => {
  const { kind, title, says: text } = says();
  assert.deepEqual([kind, title], ['', 'Live.']);
  assert.match(text, /^The coordinator described it as Stable for 1\smin 16\ss; looked at 0.4\ss ago\./);
  const endless = says({
    state: 'PreparingRebalance',
    state_since_ms: NOW - 3_000,
    rebalancing: true,
    since_ms: NOW - 63_000,
  });
  assert.match(endless.says, /PreparingRebalance for 3\.0\ss, rebalancing for 1\smin 3\ss;/);
});

test('a board whose cluster is paused, dead, late, not watched or hides the group is not live, and says since when', () => {
  const later = NOW + 79_000;
  const found = {
    paused: says({ status: 'paused' }, later),
    failing: says({ status: 'failing', problem: 'Nothing listens on localhost:9092.' }, later),
    connected: says({}, later),
    nobody: says({ is_watched: false }, later),
    moving: says({ condition: 'moving' }),
  };
  assert.deepEqual(
    Object.values(found).map(({ kind, title }) => [kind, title]),
    [
      ['warn', 'Paused.'],
      ['bad', 'Not watched now.'],
      ['warn', 'No answer yet.'],
      ['warn', 'Nobody looks now.'],
      ['warn', 'Not seen now.'],
    ],
  );
  for (const name of ['paused', 'failing', 'connected', 'nobody'])
    assert.match(found[name].says, /last seen, 1\smin 19\ss ago/);
  assert.match(found.failing.says, /^Nothing listens on localhost:9092\./);
  // A long period is not late.
  assert.equal(says({ every_s: 30 }, later).title, 'Live.');
});

test('the skew of the broker’s clock is said, with whose times the board has', () => {
  assert.match(
    says({ skew_ms: -180_000 }).says,
    /The broker’s clock is 3\smin.* behind this server’s; times on the board are the broker’s\./,
  );
  assert.match(says({ skew_ms: 4_000 }).says, /4\.0\ss ahead of this server’s/);
  assert.doesNotMatch(says().says, /clock/);
});

test('durations are counted by the server’s clock, whatever this machine’s says', () => {
  const clock = new ServerClock();
  assert.equal(clock.now(5), 5);
  clock.hear(1_000_000, 400_000);
  clock.hear(1_000_900, 401_000);
  assert.equal(clock.now(401_000), 1_001_000);
  clock.hear(undefined, 402_000);
  // Set back by a minute.
  clock.hear(942_000, 402_000);
  assert.equal(clock.now(402_000), 942_000);
});
