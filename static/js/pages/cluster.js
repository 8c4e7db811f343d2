/**
 * The page of one cluster: its groups, pushed as they change, and those that rebalance now.
 *
 * What a socket missed comes with its next hello: a lost connection is opened again, and the hello has every row.
 *
 * @typedef {import('../live/groups.js').Group} Group
 */

import { tell } from '../shared/api.js';
import { alertsPanel } from '../clusters/alerts-panel.js';
import { binned, isSeen, listed, rebalancing, stateSays, taken, watchedSays, worstSkew } from '../live/groups.js';
import { h, part, s } from '../shared/dom.js';
import { ServerClock, skewSays } from '../live/live-source.js';
import { Socket, socketUrl } from '../shared/socket.js';
import { toast } from '../shared/toast.js';
import { duration, plural, shownName } from '../frame/words.js';

/** Rows are drawn at most so often: a large cluster changes many at once. */
const DRAW_EVERY_MS = 200;

/** For so long the page shows that many groups lost members together. */
const TOGETHER_SHOWN_MS = 3_600_000;

const data = JSON.parse(part('cluster-data').textContent ?? 'null');
let cluster = data.cluster;
const url = `/api/clusters/${encodeURIComponent(cluster.id)}`;
/** @type {Map<string, Group>} */
const groups = taken(new Map(), data.groups);
const search = /** @type {HTMLInputElement} */ (part('search'));
const clock = new ServerClock();
clock.hear(data.now_ms);
const alerts = alertsPanel(url, data.alerts, cluster.name, clock);
let drawing = /** @type {any} */ (null);
let lost = false;

/** @param {number | null} value */
const number = (value) => (value === null || value === undefined ? '–' : value.toLocaleString('en-US'));

/** @param {Group} group */
function name(group) {
  return group.timeline
    ? h('a.mono', { href: `/t/${encodeURIComponent(group.timeline)}` }, shownName(group.group))
    : h('span.mono', shownName(group.group));
}

/** @param {number[]} times @param {number} nowMs */
function spark(times, nowMs) {
  const bins = binned(times, nowMs);
  const total = bins.reduce((sum, each) => sum + each, 0);
  if (!total) return h('span.quiet', 'none');
  const most = Math.max(...bins);
  return h(
    'span',
    { title: plural(total, 'rebalance') },
    s(
      'svg',
      { width: 92, height: 16, role: 'img', 'aria-label': `${plural(total, 'rebalance')} in the last hour` },
      bins.map((each, at) =>
        each
          ? s('rect', {
              x: at * 3 + 1,
              y: 15 - (13 * each) / most,
              width: 2,
              height: (13 * each) / most + 1,
              fill: 'currentColor',
            })
          : null,
      ),
    ),
  );
}

/** As on the group's board; a condition that hides it is told in words. @param {Group} group */
function state(group) {
  if (!isSeen(group) || !group.state) return h('span.open', stateSays(group));
  return h('span.state', { 'data-s': group.state }, h('i'), group.state);
}

/** How each kind of column is drawn. @type {{[kind: string]: (group: Group, value: any) => Node}} */
const CELLS = {
  name: (group) => h('td', name(group)),
  text: (_, value) => h('td', value ?? ''),
  state: (group) => h('td', state(group)),
  number: (_, value) => h('td.r.num', number(value)),
  members: (group, value) =>
    h('td.r.num', number(value), group.behind ? h('span.quiet', ` (${group.behind} behind)`) : null),
  times: (_, value) => h('td', spark(value, clock.now())),
};

/** @param {Group} group */
const row = (group) =>
  h(
    'tr',
    { 'data-group': group.group },
    data.columns.map((/** @type {any} */ { kind, fact }) =>
      CELLS[kind]?.(group, group[/** @type {keyof Group} */ (fact)]),
    ),
  );

function draw() {
  drawing = null;
  const nowMs = clock.now();
  const focused = document.activeElement?.closest('tr')?.getAttribute('data-group');
  part('rows').replaceChildren(...listed(groups.values(), search.value).map(row));
  if (focused)
    /** @type {HTMLElement | null} */ (part('rows').querySelector(`[data-group="${CSS.escape(focused)}"] a`))?.focus();
  const busy = rebalancing(groups.values());
  part('now-count').textContent = busy.length ? plural(busy.length, 'group') : 'none';
  part('nows').replaceChildren(
    ...busy.map((group) =>
      h(
        'a',
        { href: group.timeline ? `/t/${encodeURIComponent(group.timeline)}` : '#rows' },
        h('b.mono', shownName(group.group)),
        h('span', group.state),
        h('span.num', group.since_ms ? duration(nowMs - group.since_ms) : ''),
      ),
    ),
  );
  part('none').hidden = groups.size > 0;
  head();
}

function head() {
  const seen = cluster.seen ?? {};
  const silent = Object.keys(seen.silent ?? {});
  part('facts').textContent =
    cluster.status === 'connected'
      ? `${plural(seen.groups ?? 0, 'group')}, ${plural(seen.brokers ?? 0, 'broker')}, ${watchedSays(seen)}`
      : '';
  part('watch').textContent = cluster.watched ? 'Pause' : 'Watch again';
  const banners = [];
  if (cluster.status === 'failing')
    banners.push(
      h(
        'div.banner.bad',
        { role: 'alert' },
        h('b', 'Not watched now. '),
        cluster.problem,
        ' It is tried again; the groups stand as they were last seen.',
      ),
    );
  if (cluster.status === 'paused')
    banners.push(h('div.banner', h('b', 'Paused. '), cluster.problem || 'The groups stand as they were last seen.'));
  if (cluster.status === 'waiting')
    banners.push(h('div.banner', h('b', 'Waiting. '), 'Somebody begins to watch it within seconds.'));
  if (silent.length)
    banners.push(
      h('div.banner.warn', h('b', `${plural(silent.length, 'broker')} not answering. `), seen.silent[silent[0] ?? '']),
    );
  if (seen.follow?.command)
    banners.push(
      h(
        'div.banner',
        h('b', 'Polled, not followed. '),
        `${seen.follow.why} With it every record is seen, also what lies between two polls: `,
        h('code.mono', seen.follow.command),
      ),
    );
  const agoMs = clock.now() - (seen.together?.to_ms ?? Number.NEGATIVE_INFINITY);
  if (agoMs < TOGETHER_SHOWN_MS)
    banners.push(h('div.banner.warn', h('b', `${duration(agoMs)} ago: `), `${seen.together.says}.`));
  const skew = worstSkew(seen);
  if (skew)
    banners.push(
      h(
        'div.banner.warn',
        h('b', 'The clocks differ. '),
        skewSays({ skew_ms: skew }),
        ' Durations in this list and in alerts are counted by this server’s clock.',
      ),
    );
  if (seen.follow?.different)
    banners.push(
      h(
        'div.banner.warn',
        `${plural(seen.follow.different, 'answer')} of coordinators differed from the log; the timelines say where.`,
      ),
    );
  if (seen.follow?.left_out)
    banners.push(h('div.banner.warn', `${number(seen.follow.left_out)} groups of the log are not recorded.`));
  if (seen.left_out)
    banners.push(h('div.banner.warn', `${number(seen.left_out)} groups are listed and not described.`));
  if (lost) banners.push(h('div.banner.warn', h('b', 'Connection lost. '), 'It is opened again.'));
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
  try {
    cluster = await tell(url, 'PATCH', { watched: !cluster.watched });
    draw();
  } catch (error) {
    toast(error instanceof Error ? error.message : 'It could not be changed.');
  }
});
part('remove').addEventListener('click', async () => {
  if (
    !confirm(`Remove ${cluster.name}, and all timelines that were recorded of it? The cluster itself is not touched.`)
  )
    return;
  try {
    await tell(url, 'DELETE');
    location.assign('/clusters');
  } catch (error) {
    toast(error instanceof Error ? error.message : 'It could not be removed.');
  }
});
search.addEventListener('input', draw);
// Durations of the strip go on while nothing comes.
setInterval(soon, 1000);
draw();
socket.open();
