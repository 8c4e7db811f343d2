import assert from 'node:assert/strict';
import test from 'node:test';

import { choose, clock, day, isZone, offset, onZone, stamp, stretch, zoneName } from '../../static/js/shared/times.js';

const SUMMER = Date.UTC(2026, 6, 1, 22, 5, 1);
const WINTER = Date.UTC(2026, 0, 1, 22, 5, 1);

test('a time is shown in the zone that was chosen, and the zone is said', () => {
  choose('utc');
  assert.equal(stamp(SUMMER), '1 Jul 2026, 22:05 UTC');
  choose('log', 'Europe/Berlin');
  assert.equal(stamp(SUMMER), '2 Jul 2026, 00:05 UTC+2');
  assert.equal(stamp(WINTER), '1 Jan 2026, 23:05 UTC+1');
  choose('log', 'Asia/Kolkata');
  assert.equal(zoneName(SUMMER), 'UTC+5:30');
  choose('log', 'America/New_York');
  assert.equal(zoneName(WINTER), 'UTC−5');
});

test('a stretch within a day names the day once, a longer one twice', () => {
  choose('utc');
  assert.equal(stretch(SUMMER, SUMMER + 600_000), '1 Jul 2026, 22:05 to 22:15 UTC');
  assert.equal(stretch(SUMMER, SUMMER + 86_400_000), '1 Jul 2026, 22:05 to 2 Jul 2026, 22:05 UTC');
});

test('the offset makes UTC read as the zone does, to the second and in summer', () => {
  choose('log', 'Europe/Berlin');
  assert.equal(offset(SUMMER), 2 * 3_600_000);
  assert.equal(offset(WINTER + 321), 3_600_000);
  choose('log', 'Asia/Kolkata');
  assert.equal(offset(SUMMER), 5.5 * 3_600_000);
});

test('midnight is 00 and not 24', () => {
  choose('utc');
  assert.equal(clock(Date.UTC(2026, 0, 1)), '00:00:00');
  assert.equal(day(Date.UTC(2026, 0, 1)), '1 Jan 2026');
});

test('a zone that does not exist is known as none, and who listens hears of a choice', () => {
  assert.equal(isZone('Europe/Nowhere'), false);
  assert.equal(isZone(''), false);
  let heard = 0;
  onZone(() => {
    heard += 1;
  });
  choose('utc');
  assert.equal(heard, 1);
});
