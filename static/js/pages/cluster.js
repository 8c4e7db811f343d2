/**
 * The page of one cluster: what is wrong in its groups, how they are now, pushed as they change, and those that rebalance now.
 *
 * What a socket missed comes with its next hello: a lost connection is opened again, and the hello has every row.
 *
 * @import {GroupRow as Group} from '../shapes'
 */

import { ask, submit } from '../shared/api.js';
import { alertsPanel } from '../clusters/alerts-panel.js';
import { listed, rebalancing, taken, watchedWords, worstSkew } from '../live/groups.js';
import { banner, h, part } from '../shared/dom.js';
import { ServerClock, skewWords } from '../live/live-source.js';
import { Socket, seldom, socketUrl } from '../shared/socket.js';
import { orToast } from '../shared/toast.js';
import { counted, grouped } from '../shared/numbers.js';
import { bareRow } from '../troubles/order.js';
import { troublesTable } from '../troubles/table.js';
import { duration, shownName } from '../frame/words.js';

/** Rows are drawn at most so often: a large cluster changes many at once. */
const DRAW_EVERY_MS = 200;

/** What is wrong is fetched at most so often while groups change. */
const ANALYSED_EVERY_MS = 10_000;

/** For so long the page shows that many groups lost members together. */
const TOGETHER_SHOWN_MS = 3_600_000;

const data = JSON.parse(part('cluster-data').textContent ?? 'null');
let cluster = data.cluster;
const url = `/api/clusters/${encodeURIComponent(cluster.id)}`;
/** @type {Map<string, Group>} */
const groups = taken(new Map(), data.groups);
const clock = new ServerClock();
clock.hear(data.now_ms);
const alerts = alertsPanel(url, data.alerts, cluster.name, clock);
let drawing = /** @type {any} */ (null);
let lost = false;

/** @param {number | null} value */
const number = (value) => (value === null || value === undefined ? '–' : grouped(value));

/** @type {import('../troubles/types').Table} */
let table = JSON.parse(part('troubles-data').textContent ?? 'null');
/** Groups of which nothing is analysed yet. @type {Map<string, import('../troubles/types').TroubleRow>} */
const bare = new Map();

/** The rows of what was analysed, then the other groups by name; each with how its group is now. */
function listedTable() {
  const analysed = new Map(table.rows.map((row) => [row.timeline, row]));
  const rows = listed(groups.values()).map((group) => {
    let row = analysed.get(group.timeline ?? '') ?? bare.get(group.group);
    if (!row) bare.set(group.group, (row = bareRow(group.group, { protocol: group.type ?? '' })));
    row.live = group;
    return row;
  });
  const place = new Map(table.rows.map((row, at) => [row, at]));
  rows.sort((one, other) => (place.get(one) ?? Infinity) - (place.get(other) ?? Infinity) || 0);
  return { ...table, rows, matching: Math.max(table.matching, rows.length) };
}

const troubles = troublesTable(listedTable(), { none: ['No group is seen yet.'] });

/** What happened is fetched again as groups change; how they are now is pushed. */
const analyse = seldom(async () => {
  try {
    table = await ask(`/api/groups?cluster=${encodeURIComponent(cluster.id)}`);
    soon();
  } catch {
    // Another part of the page shows that the server is away; the next change has it fetched again.
  }
}, ANALYSED_EVERY_MS);

function draw() {
  drawing = null;
  const nowMs = clock.now();
  troubles.show(listedTable());
  const busy = rebalancing(groups.values());
  part('now-count').textContent = busy.length ? counted(busy.length, 'group') : 'none';
  part('nows').replaceChildren(
    ...busy.map((group) =>
      h(
        'a',
        { href: group.timeline ? `/t/${encodeURIComponent(group.timeline)}` : '#troubles' },
        h('b.mono', shownName(group.group)),
        h('span', group.state),
        h('span.num', group.since_ms ? duration(nowMs - group.since_ms) : ''),
      ),
    ),
  );
  head();
}

function head() {
  const seen = cluster.seen ?? {};
  const silent = Object.keys(seen.silent ?? {});
  part('facts').textContent =
    cluster.status === 'connected'
      ? `${counted(seen.groups ?? 0, 'group')}, ${counted(seen.brokers ?? 0, 'broker')}, ${watchedWords(seen)}`
      : '';
  part('watch').textContent = cluster.watched ? 'Pause' : 'Watch again';
  /** @type {HTMLElement[]} */
  const banners = [];
  const add = (/** @type {Parameters<typeof banner>} */ ...known) => banners.push(banner(...known));
  if (cluster.status === 'failing')
    add('bad', 'Not watched now.', cluster.problem, ' It is tried again; the groups are shown as they were last seen.');
  if (cluster.status === 'paused')
    add('', 'Paused.', cluster.problem || 'The groups are shown as they were last seen.');
  if (cluster.status === 'waiting') add('', 'Waiting.', 'Somebody begins to watch it within seconds.');
  if (silent.length) add('warn', `${counted(silent.length, 'broker')} not answering.`, seen.silent[silent[0] ?? '']);
  if (seen.follow?.command)
    add(
      '',
      'Polled, not followed.',
      `${seen.follow.why} With it every record is seen, also what lies between two polls: `,
      h('code.mono', seen.follow.command),
    );
  const agoMs = clock.now() - (seen.together?.to_ms ?? Number.NEGATIVE_INFINITY);
  if (agoMs < TOGETHER_SHOWN_MS) add('warn', `${duration(agoMs)} ago:`, `${seen.together.says}.`);
  const skew = worstSkew(seen);
  if (skew)
    add(
      'warn',
      'The clocks differ.',
      skewWords({ skew_ms: skew }),
      ' Durations in this list and in alerts are counted by this server’s clock.',
    );
  if (seen.follow?.different)
    add(
      'warn',
      '',
      `${counted(seen.follow.different, 'answer')} of coordinators differed from the log; the timelines say where.`,
    );
  if (seen.follow?.left_out) add('warn', '', `${number(seen.follow.left_out)} groups of the log are not recorded.`);
  if (seen.left_out) add('warn', '', `${number(seen.left_out)} groups are listed and not described.`);
  if (lost) add('warn', 'Connection lost.', 'It is opened again.');
  part('banners').replaceChildren(...banners);
}

function soon() {
  drawing ??= setTimeout(draw, DRAW_EVERY_MS);
}

/** @param {any} message */
function hear(message) {
  clock.hear(message.now_ms);
  if (message.type === 'alerts') {
    alerts.hear(message.alerts);
    return;
  }
  if (message.status)
    cluster = { ...cluster, status: message.status, problem: message.problem ?? message.seen?.problem ?? '' };
  if (message.seen) cluster = { ...cluster, seen: message.seen };
  if (message.type === 'hello') {
    groups.clear();
    alerts.hear([]);
  }
  taken(groups, message.groups ?? []);
  soon();
  if (message.groups?.length) analyse();
}

const socket = new Socket({
  url: socketUrl(`/ws/clusters/${encodeURIComponent(cluster.id)}`),
  hear(message) {
    lost = false;
    hear(message);
  },
  onLost() {
    lost = true;
    soon();
  },
});

part('watch').addEventListener('click', async () => {
  await orToast('It could not be changed.', async () => {
    cluster = await submit(url, 'PATCH', { watched: !cluster.watched });
    draw();
  });
});
part('remove').addEventListener('click', async () => {
  if (
    !confirm(`Remove ${cluster.name}, and all timelines that were recorded of it? The cluster itself is not touched.`)
  )
    return;
  await orToast('It could not be removed.', async () => {
    await submit(url, 'DELETE');
    location.assign('/clusters');
  });
});
// Durations of the strip go on while nothing comes.
setInterval(soon, 1000);
draw();
socket.open();
