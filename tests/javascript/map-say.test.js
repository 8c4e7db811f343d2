import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LOST, REVOKING, UNASSIGNED, WAITING } from '../../static/js/map/modes.js';
import { holdUps, memberText, partitionText, troublesOf } from '../../static/js/map/say.js';
import { StorySource } from './fixtures/map-source.js';
import { story } from './fixtures/map-story.js';

const told = story({ members: 100, each: 4, epochs: 2, seed: 5 });
const source = new StorySource(told);
const NAMES = { member: (id) => id, lane: (id) => id, partition: (key) => key };
const revoke = told.moments.find(({ shape }) => shape === 'revoke');
const settledAt = told.moments.findLast(({ shape, epoch }) => shape === 'advance' && epoch === revoke.epoch).sequence;
const freeAt = told.moments.find(({ shape }) => shape === 'acknowledge').sequence;
const scene = source.scene(settledAt);
const taker = [...scene.ownership.moving].map((key) => scene.ownership.of(key).wants)[0];
const lane = (key) => ({ key, members: [key] });

test('who revokes says whom it blocks, who waits says for whom, and each leads to the other', () => {
  const blocking = memberText(scene, lane(revoke.actor), NAMES);
  assert.equal(blocking.mode, REVOKING);
  assert.match(blocking.says, new RegExp(`blocks ${taker} on orders-\\d+, which it is revoking`));
  assert.deepEqual(
    blocking.links.map(({ key }) => key),
    [taker],
  );
  const waiting = memberText(scene, lane(taker), NAMES);
  assert.equal(waiting.mode, WAITING);
  assert.match(waiting.says, new RegExp(`waits for ${revoke.actor} to release orders-\\d+`));
  assert.deepEqual(
    waiting.links.map(({ key }) => key),
    [revoke.actor],
  );
  assert.deepEqual([...holdUps(scene, revoke.actor).blocks.keys()], [taker]);
});

test('whoever is in trouble stands in the list, the worst first, and nobody else', () => {
  const troubles = troublesOf(scene, NAMES);
  assert.deepEqual(
    new Set(troubles.map(({ key }) => key)),
    new Set([revoke.actor, taker, ...troubles.filter(({ mode }) => mode === LOST).map(({ key }) => key)]),
  );
  for (let index = 1; index < troubles.length; index += 1) assert.ok(troubles[index - 1].mode >= troubles[index].mode);
  const free = troublesOf(source.scene(freeAt), NAMES);
  assert.equal(free[0].mode, UNASSIGNED);
  assert.match(free[0].says, /unassigned/);
});

test('who is killed stands in the list once, also where it still has what another waits for', () => {
  const { clients, ...frame } = scene.frame;
  const killed = { ...clients?.[revoke.actor], killed: true };
  const troubles = troublesOf(
    { ...scene, frame: { ...frame, clients: { ...clients, [revoke.actor]: killed } } },
    NAMES,
  );
  assert.deepEqual(
    troubles.filter(({ key }) => key === revoke.actor).map(({ mode }) => mode),
    [LOST],
  );
  assert.ok(troubles.some(({ key, mode }) => key === taker && mode === WAITING));
});

test('a member before it joined, and after, and one that is killed say so', () => {
  assert.equal(memberText(source.scene(0), lane('consumer-0-50'), NAMES).says, 'not in the group');
  assert.match(memberText(source.scene(told.last), lane('consumer-0-50'), NAMES).says, /^owns /);
  const killed = Object.entries(scene.frame.clients).find(([, client]) => client.killed)?.[0];
  assert.match(memberText(scene, lane(killed), NAMES).says, /^process killed; session still open/);
});

test('a partition says who owns it, and who its target owner is while that is another', () => {
  const key = [...scene.ownership.moving][0];
  assert.equal(partitionText(scene, key, NAMES).says, `being revoked by ${revoke.actor}, target owner ${taker}`);
  assert.equal(partitionText(source.scene(freeAt), key, NAMES).mode, UNASSIGNED);
  assert.match(partitionText(source.scene(told.last), key, NAMES).says, /^owned by consumer/);
  assert.equal(partitionText(source.scene(0), key, NAMES).says, 'does not exist');
});
