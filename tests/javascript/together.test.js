import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AWAY_MS, REPEAT_MS, Together } from '../../static/js/live/together.js';

/** Windows on one timeline, and a server that keeps nothing: what is sent reaches all, unless it is down. */
class Room {
  now_ms = 0;
  down = false;
  windows = /** @type {any[]} */ ([]);

  /** @param {string} who @param {any} [kept] */
  opens(who, kept = { who, role: 'looks', turn: 0 }) {
    const seen = /** @type {string[]} */ ([]);
    const together = new Together(kept, {
      send: async (message) => {
        if (this.down) throw new Error('down');
        const { does, ...rest } = message;
        for (const each of this.windows) each.together.hear({ ...rest, type: does, name: who });
      },
      look: (view) => seen.push(view),
      onChange: () => {},
      now: () => this.now_ms,
    });
    this.windows = [...this.windows.filter((one) => one.together.who !== who), { together, seen, view: '?at=1' }];
    together.hear({ type: 'hello' });
    this.here();
    return this.windows[this.windows.length - 1];
  }

  here() {
    const people = this.windows.map(({ together }) => ({ who: together.who, name: together.who }));
    if (!this.down)
      for (const each of this.windows) each.together.hear({ type: 'here', process: 'p', people, more: 0 });
  }

  /** Some time passes, in which every window does what it does several times a second. */
  async passes(ms = 200) {
    for (const until = this.now_ms + ms; this.now_ms < until;) {
      this.now_ms += 100;
      for (const each of this.windows) await each.together.tick(each.view);
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
  }
}

const roles = (/** @type {Room} */ room) => room.windows.map(({ together }) => together.role).join(' ');

test('a follower sees where the presenter is, at once and with each move, and not the same twice', async () => {
  const room = new Room();
  const [ada, bob] = [room.opens('ada'), room.opens('bob')];
  ada.together.present();
  await room.passes();
  assert.equal(bob.together.presenter.name, 'ada');
  assert.deepEqual(bob.seen, []);
  bob.together.follow();
  ada.view = '?at=2';
  await room.passes(2 * REPEAT_MS);
  assert.deepEqual(bob.seen, ['?at=1', '?at=2']);
  assert.deepEqual(
    ada.together.followers.map((/** @type {any} */ one) => one.name),
    ['bob'],
  );
  bob.together.stop();
  ada.view = '?at=3';
  await room.passes();
  assert.deepEqual([bob.seen.length, ada.together.followers.length], [2, 0]);
});

test('whoever takes over is followed by all, the presenter too; handing over is taking over by another', async () => {
  const room = new Room();
  const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((who) => room.opens(who));
  ada.together.present();
  await room.passes();
  bob.together.follow();
  eve.together.follow();
  eve.together.present();
  eve.view = '?at=9';
  await room.passes();
  assert.equal(roles(room), 'follows follows presents');
  assert.equal(bob.seen.at(-1), '?at=9');
  eve.together.hand('bob');
  await room.passes();
  assert.equal(roles(room), 'follows presents follows');
  assert.equal(ada.together.presenter.name, 'bob');
});

test('of two who present at once one does, the same one for every window', async () => {
  const room = new Room();
  const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((who) => room.opens(who));
  ada.together.present();
  bob.together.present();
  await room.passes(2 * REPEAT_MS);
  assert.equal(roles(room), 'follows presents looks');
  assert.equal(eve.together.presenter.name, 'bob');
});

test('a lost message, a server that restarts and a window that reloads are made good by the next message', async () => {
  const room = new Room();
  const [ada, bob] = [room.opens('ada'), room.opens('bob')];
  ada.together.present();
  await room.passes();
  bob.together.follow();
  await room.passes();
  room.down = true;
  for (const { together } of room.windows) together.lose();
  ada.view = '?at=5';
  await room.passes(2 * AWAY_MS);
  assert.ok(bob.together.isAway);
  assert.equal(roles(room), 'presents follows');
  room.down = false;
  for (const { together } of room.windows) together.hear({ type: 'hello' });
  await room.passes();
  assert.deepEqual([bob.seen.at(-1), bob.together.isAway], ['?at=5', false]);
  // The presenter's window reloads, with what it had kept.
  const again = room.opens('ada', ada.together.kept);
  again.view = '?at=6';
  await room.passes(800);
  assert.deepEqual([again.together.role, bob.seen.at(-1)], ['presents', '?at=6']);
});

test('a presenter who stops leaves followers that follow the next one; who is not heard of is no longer listed', async () => {
  const room = new Room();
  const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((who) => room.opens(who));
  ada.together.present();
  await room.passes();
  bob.together.follow();
  ada.together.stop();
  await room.passes();
  assert.equal(roles(room), 'looks looks looks');
  eve.together.present();
  await room.passes();
  assert.equal(roles(room), 'looks follows presents');
  assert.equal(bob.together.others.people.length, 2);
  room.now_ms += AWAY_MS;
  assert.equal(bob.together.others.people.length, 0);
});

test('a presenter whose window is closed is offered no more, and one with a lower number may begin', async () => {
  const room = new Room();
  const [ada, bob] = ['ada', 'bob'].map((who) => room.opens(who));
  bob.together.present();
  await room.passes();
  ada.together.present();
  await room.passes();
  bob.together.stop();
  await room.passes();
  assert.equal(bob.together.offered.name, 'ada');
  room.windows = [bob];
  await room.passes(AWAY_MS + 200);
  assert.equal(bob.together.offered, null);
  const eve = room.opens('eve');
  eve.together.present();
  await room.passes();
  assert.equal(bob.together.offered.name, 'eve');
});

test('nobody but the presenter hands over or ends it', async () => {
  const room = new Room();
  const [ada, bob] = ['ada', 'bob'].map((who) => room.opens(who));
  const eve = { who: 'eve', name: 'eve', turn: 9 };
  bob.together.hear({ ...eve, type: 'hands', to: 'bob' });
  assert.equal(bob.together.role, 'looks');
  ada.together.present();
  await room.passes();
  bob.together.follow();
  // The id of a window is known to all; the server adds the name of the account.
  for (const who of ['eve', 'ada'])
    for (const type of ['hands', 'stops']) bob.together.hear({ ...eve, who, type, to: 'bob' });
  assert.deepEqual([bob.together.role, bob.together.presenter.name], ['follows', 'ada']);
});

test('what a server refuses is sent again ever more rarely, and at once when it takes it', async () => {
  const room = new Room();
  const ada = room.opens('ada');
  let sent = 0;
  ada.together.send = async () => {
    sent += 1;
    throw new Error('refused');
  };
  const waits = /** @type {number[]} */ ([]);
  const { setTimeout: real } = globalThis;
  // The clock of the test is the room's: a wait ends at once, and is noted.
  globalThis.setTimeout = /** @type {any} */ (
    (/** @type {() => void} */ run, /** @type {number} */ ms) => {
      if (ms > 1) waits.push(ms);
      return real(run, 0);
    }
  );
  try {
    ada.together.present();
    await room.passes(1200);
    ada.together.send = async () => {};
    await room.passes(400);
    ada.together.send = async () => {
      throw new Error('refused');
    };
    ada.view = '?at=9';
    await room.passes(200);
  } finally {
    globalThis.setTimeout = real;
  }
  assert.deepEqual(waits.slice(0, 6), [500, 1000, 2000, 4000, 8000, AWAY_MS]);
  assert.ok(sent >= 6);
  assert.equal(waits.filter((each) => each === 500).length, 2);
});
