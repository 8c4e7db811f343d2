import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Feed, SILENCE_MS, SUMMARY_EVERY_MS } from '../../static/js/live/feed.js';
import { FIRST_WAIT_MS, LONGEST_WAIT_MS, Socket, seldom } from '../../static/js/shared/socket.js';
import { Timeline } from '../../static/js/timeline/timeline.js';
import { FRAMES, chunks, delta } from './fixtures/basic.js';

/** A server and a clock that stand still until told otherwise. */
class Stage {
  constructor(rows = 16) {
    const first = chunks(4)[0];
    this.rows = rows;
    this.sockets = [];
    this.timers = [];
    this.links = [];
    this.asked = [];
    this.statuses = [];
    this.summaries = [];
    this.timeline = new Timeline({ chunks: [first], load: async () => structuredClone(first) });
    this.timeline.give(structuredClone(first));
    this.feed = new Feed({
      url: 'ws://here',
      last: () => this.timeline.last,
      append: (message) => this.timeline.append(message),
      fetchAfter: async (after) => {
        this.asked.push(after);
        return delta(after / 3 + 1, Math.min(this.rows, after / 3 + 5));
      },
      onLink: (link) => this.links.push(link),
      onStatus: (message) => this.statuses.push(message),
      onSummary: (summary) => this.summaries.push(summary),
      means: this.means(),
    });
    this.feed.open();
  }

  /** Sockets and timers that are the test's. */
  means() {
    return {
      connect: () => {
        const socket = { close: () => {}, onmessage: null, onclose: null };
        this.sockets.push(socket);
        return socket;
      },
      later: (run, ms) => {
        const timer = { run, ms, off: false };
        this.timers.push(timer);
        return timer;
      },
      never: (timer) => {
        if (timer) timer.off = true;
      },
    };
  }

  get socket() {
    return this.sockets[this.sockets.length - 1];
  }

  async say(message) {
    this.socket.onmessage({ data: JSON.stringify(message) });
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
  }

  /** Runs the newest timer that waits, and tells how long it would have waited. */
  ring() {
    const timer = this.timers.findLast((candidate) => !candidate.off);
    timer.off = true;
    timer.run();
    return timer.ms;
  }

  async isWhole() {
    assert.equal(this.timeline.last, this.rows * 3);
    assert.deepEqual((await this.timeline.seek(this.timeline.last)).frame, FRAMES[this.rows - 1]);
  }
}

test('changes that follow are taken as they come, and nothing is asked for', async () => {
  const stage = new Stage();
  await stage.say({ type: 'hello', last: 12, fold_version: 1 });
  for (let row = 5; row <= 16; row += 1) await stage.say(delta(row, row));
  assert.deepEqual(stage.asked, []);
  assert.equal(stage.links.at(-1), 'live');
  await stage.isWhole();
});

test('what was stored before the socket said hello is fetched, page by page', async () => {
  const stage = new Stage();
  await stage.say({ type: 'hello', last: 48, fold_version: 1 });
  assert.deepEqual(stage.asked, [12, 27, 42]);
  await stage.isWhole();
});

test('a message that was lost on the way is seen at the next one, and fetched', async () => {
  const stage = new Stage();
  await stage.say(delta(5, 6));
  await stage.say(delta(9, 16));
  assert.deepEqual(stage.asked, [18, 33, 48].slice(0, stage.asked.length));
  await stage.isWhole();
});

test('the last message may be the lost one: the repeated tail tells', async () => {
  const stage = new Stage(6);
  await stage.say(delta(5, 5));
  assert.equal(stage.timeline.last, 15);
  await stage.say({ type: 'tail', last: 18 });
  await stage.isWhole();
});

test('a message that comes twice, or late, changes nothing', async () => {
  const stage = new Stage(8);
  await stage.say(delta(5, 8));
  await stage.say(delta(5, 8));
  await stage.say(delta(6, 7));
  await stage.isWhole();
  assert.equal(stage.timeline.steps.length, 8);
});

test('a lost connection is tried again, each time after a longer wait, up to a bound', async () => {
  const stage = new Stage();
  const waits = [];
  for (let i = 0; i < 8; i += 1) {
    stage.socket.onclose();
    waits.push(stage.ring());
  }
  assert.equal(waits[0], FIRST_WAIT_MS);
  assert.equal(waits[1], FIRST_WAIT_MS * 2);
  assert.equal(waits.at(-1), LONGEST_WAIT_MS);
  await stage.say({ type: 'hello', last: 12, fold_version: 1 });
  stage.socket.onclose();
  assert.equal(stage.ring(), FIRST_WAIT_MS);
});

test('silence longer than the server ever keeps means that the connection is dead', () => {
  const stage = new Stage();
  assert.equal(stage.ring(), SILENCE_MS);
  assert.equal(stage.links.at(-1), 'lost');
  stage.ring();
  assert.equal(stage.sockets.length, 2);
});

test('a feed that was closed stays closed', () => {
  const stage = new Stage();
  stage.feed.close();
  stage.socket.onclose();
  assert.equal(
    stage.timers.every((timer) => timer.off),
    true,
  );
  assert.equal(stage.links.at(-1), 'closed');
});

test('a status is handed on', async () => {
  const stage = new Stage();
  await stage.say({ type: 'status', status: 'complete', summary: { entries: 48 } });
  assert.equal(stage.statuses[0].status, 'complete');
});

test('a summary that is too large to come along is asked for once, a moment later', async () => {
  const stage = new Stage();
  stage.feed.parts.asksSummary = true;
  stage.feed.parts.fetchAfter = async (after) => {
    stage.asked.push(after);
    return { after, last: after, changes: [], moments: [], summary: { last: after } };
  };
  const waiting = () =>
    stage.timers.filter(({ ms, off }) => !off && ms >= SUMMARY_EVERY_MS && ms <= 2 * SUMMARY_EVERY_MS);
  await stage.say(delta(5, 5));
  await stage.say(delta(6, 6));
  assert.equal(waiting().length, 1);
  await waiting()[0].run();
  assert.deepEqual([stage.asked, stage.summaries], [[18], [{ last: 18 }]]);
  waiting()[0].off = true;
  await stage.say(delta(7, 7));
  assert.equal(waiting().length, 1);
  stage.feed.close();
  assert.equal(waiting().length, 0);
});

test('what the whole comes to is handed on with the entries that made it so', async () => {
  const stage = new Stage();
  await stage.say(delta(5, 5));
  await stage.say({ ...delta(6, 6), summary: { last: 18 } });
  assert.deepEqual(stage.summaries, [{ last: 18 }]);
});

test('a socket that has nothing more to say is not opened again', () => {
  const stage = new Stage();
  let lost = 0;
  const socket = new Socket({
    url: 'ws://there',
    hear: () => {},
    goesOn: () => false,
    onLost: () => {
      lost += 1;
    },
    ...stage.means(),
  });
  socket.open();
  const timers = stage.timers.length;
  stage.socket.onclose();
  assert.deepEqual([lost, stage.timers.length], [1, timers]);
});

test('what was said meanwhile is fetched before a socket is opened again, unless that was the last of it', async () => {
  const stage = new Stage();
  let fetched = 0;
  let goesOn = true;
  const socket = new Socket({
    url: 'ws://there',
    hear: () => {},
    goesOn: () => goesOn,
    before: async () => {
      fetched += 1;
      goesOn = fetched < 2;
    },
    ...stage.means(),
  });
  socket.open();
  const sockets = stage.sockets.length;
  stage.socket.onclose();
  stage.ring();
  await new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
  assert.deepEqual([fetched, stage.sockets.length], [1, sockets + 1]);
  stage.socket.onclose();
  stage.ring();
  await new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
  assert.deepEqual([fetched, stage.sockets.length], [2, sockets + 1]);
});

test('what is asked for while it is under way is done once more, and no oftener', async () => {
  let done = 0;
  const ask = seldom(async () => {
    done += 1;
  }, 20);
  const first = ask();
  for (let i = 0; i < 5; i += 1) ask();
  await first;
  assert.equal(done, 1);
  await new Promise((resolve) => {
    setTimeout(resolve, 60);
  });
  assert.equal(done, 2);
});
