/**
 * The page of one import: what was recognised, how far it is, the groups that can be opened, ids without a name,
 * what was skipped.
 *
 * Counts come through the socket; everything else is fetched when something new is there. A lost message is mended
 * by the next one, or by the tail that the server repeats.
 *
 * @typedef {{name: string, done: number, of: number | null, unit: string}} Stage
 * @typedef {import('./import-rows.js').Source} Source
 * @typedef {import('./import-rows.js').Row} Row
 * @typedef {{id: string, partitions: number | null, suggestion: {name: string, why: string} | null, groups: string[],
 *   timelines: string[], name: string | null}} Nameless
 * @typedef {{file: string, offset: number | null, last_offset: number | null, reason: string, records: number,
 *   normal: boolean}} Skipped
 * @typedef {{id: string, title: string, status: string, problem: string, created: string, finished: string | null,
 *   stage: string, stages: Stage[], bytes: number, remaining_s: number | null, found: number | null,
 *   sources: Source[], timelines: Row[], timelines_in_all: number, matching: number, span: [number, number] | null,
 *   again: {same: number, longer: number, overlapping: number}, repeated: number,
 *   waiting_groups: {group: string, protocol: string, records: number, first_ms: number, last_ms: number}[],
 *   spark: {ready: boolean} | null, named: {says: string, count: number}[], nameless: Nameless[],
 *   records: {read: number, decoded: number, skipped: Skipped[], compacted?: number, unlisted?: number}}} Detail
 */

import { ask, tell } from './api.js';
import { h, part } from './dom.js';
import { bytes, count, groupRow, spark, sourceRow } from './import-rows.js';
import { Socket, seldom, socketUrl } from './socket.js';
import { onZone, showSwitch, stretch } from './times.js';
import { toast } from './toast.js';
import { duration, plural } from './words.js';

/** The whole is fetched at most this often while it grows; counts come by themselves. */
const FETCH_EVERY_MS = 700;
/** Groups that wait to be folded are listed by name up to here; their number stands above. */
const WAITING_SHOWN = 100;
/** How long the search waits for the next letter. */
const SEARCH_AFTER_MS = 200;
/** The stage in which Spark's process comes up: ten to twenty seconds, in which nothing is read. */
const SPARK = 'Starting Spark';
const ENDED = new Set(['complete', 'failed', 'cancelled']);

/** @type {Detail} */
let detail = JSON.parse(part('import-data').textContent ?? 'null');
const url = `/api/imports/${encodeURIComponent(detail.id)}`;
/** What the groups are narrowed to, beyond the first page of all. */
const asked = { q: '', hours: '' };
/** @type {{timelines: Row[], matching: number} | null} */
let narrowed = null;
let asking = 0;
let announced = '';

const ended = () => ENDED.has(detail.status);
const inputs = () => part('ids').contains(document.activeElement);

function draw() {
  head();
  banners();
  stages(detail.stage, detail.stages);
  sources();
  groups();
  // A field that somebody is typing into is not taken from under the hands.
  if (!inputs()) ids();
  skipped();
}

function head() {
  const took = (detail.finished ? Date.parse(detail.finished) : Date.now()) - Date.parse(detail.created);
  const words = {
    waiting: 'Waiting for',
    running: 'Running for',
    complete: 'Imported in',
    failed: 'Failed after',
    cancelled: 'Cancelled after',
  };
  part('since').replaceChildren(
    words[/** @type {'waiting'} */ (detail.status)] ?? '',
    ' ',
    h('b', { class: 'num' }, duration(took)),
  );
  part('stop').hidden = ended();
  part('delete').hidden = !ended();
  part('rename').hidden = !ended();
  part('report').hidden = !ended();
  const best = detail.timelines[0];
  const open = /** @type {HTMLAnchorElement} */ (part('open'));
  open.hidden = !best;
  if (best) {
    open.href = best.url;
    open.textContent = `Open ${best.title}`;
  }
  part('says').replaceChildren(...sentence());
  part('basis').textContent = detail.status === 'complete' ? 'Everything was read' : '';
}

/** Groups that are known by now: those stored, or those that were read. */
const total = () => (ended() ? detail.timelines_in_all : (detail.found ?? detail.waiting_groups.length));

/** What was found, in one sentence: every clause leads to its place. @returns {(Node | string)[]} */
function sentence() {
  const [best] = detail.timelines;
  const said = /** @type {(Node | string)[]} */ ([]);
  if (!total()) {
    if (detail.status === 'complete') return ['No record of a consumer group was found.'];
    if (ended()) return [detail.status === 'cancelled' ? 'The import was cancelled.' : 'Nothing was read.'];
    const stage = part('stage').textContent || detail.stage || 'Waiting for its turn';
    return [stage === SPARK ? `${stage}: this takes 10 to 20 seconds the first time…` : `${stage}…`];
  }
  said.push(h('a', { class: 'clause', href: '#groups-panel' }, plural(total(), 'group')));
  said.push(ended() ? ` in ${count(detail.records.read)} records. ` : ' found so far. ');
  const clause = best && telling(best);
  if (best && clause) {
    said.push(
      h('a', { class: 'clause', href: `${best.url}?at=${clause.sequence}` }, `${best.title}: ${clause.text}`),
      '. ',
    );
  }
  const lost = detail.records.skipped.filter(({ normal }) => !normal);
  if (lost.length) {
    const number = lost.reduce((sum, { records }) => sum + records, 0);
    const says = number
      ? `${plural(number, 'record')} ${number === 1 ? 'was' : 'were'} skipped`
      : `${plural(lost.length, 'file')} could not be read`;
    said.push(h('a', { class: 'clause', href: '#skipped-panel' }, says), '.');
  }
  return said;
}

/** The clause that tells most: of the worst thing, else who was removed, else the first. @param {Row} row */
function telling(row) {
  const proven = row.verdict.clauses.filter(({ sequence }) => sequence !== null);
  const worst = row.verdict.worst?.sequence;
  return (
    proven.find(({ sequence }) => sequence === worst) ??
    proven.find(({ text }) => text.includes('removed')) ??
    proven[0]
  );
}

function banners() {
  const shown = /** @type {HTMLElement[]} */ ([]);
  if (detail.status === 'failed') {
    shown.push(
      h(
        'div',
        { class: 'banner bad', role: 'alert' },
        h('b', {}, 'The import failed. '),
        detail.problem,
        ' Nothing of it was kept. ',
        h('a', { href: '/import/', class: 'btn sm' }, 'Choose other files'),
        ' ',
        h('a', { href: '/import/#samples', class: 'btn sm' }, 'Try a sample'),
      ),
    );
  } else if (detail.status === 'cancelled') {
    shown.push(
      h(
        'div',
        { class: 'banner' },
        h('b', {}, 'Cancelled. '),
        'Nothing of it was kept. ',
        h('a', { href: '/import/', class: 'btn sm' }, 'Import again'),
      ),
    );
  } else if (detail.status === 'waiting' && detail.spark && !detail.spark.ready) {
    shown.push(
      h(
        'div',
        { class: 'banner' },
        h('b', {}, 'Getting Spark ready. '),
        'Its packages are being fetched, once; this import begins as soon as they are there.',
      ),
    );
  }
  const { same, longer, overlapping } = detail.again;
  if (same) {
    shown.push(
      h(
        'div',
        { class: 'banner' },
        h('b', {}, 'Imported before. '),
        `${same === 1 ? 'One group has' : `${count(same)} groups have`} the entries of an earlier import: same timeline, same links.`,
      ),
    );
  }
  if (longer) {
    shown.push(
      h(
        'div',
        { class: 'banner' },
        h('b', {}, 'The log went on. '),
        `${longer === 1 ? 'One timeline continues' : `${count(longer)} timelines continue`} an earlier import; links to them stay what they are.`,
      ),
    );
  }
  if (overlapping) {
    shown.push(
      h(
        'div',
        { class: 'banner' },
        h('b', {}, 'Overlaps an earlier import. '),
        `${overlapping === 1 ? 'One group has' : `${count(overlapping)} groups have`} some of the same offsets with other entries around them, so ${overlapping === 1 ? 'it is' : 'they are'} kept apart.`,
      ),
    );
  }
  part('banners').replaceChildren(...shown);
}

/** @param {string} stage @param {Stage[]} told */
function stages(stage, told) {
  const done = detail.status === 'complete';
  const ends = { complete: 'Done', failed: 'Failed', cancelled: 'Cancelled' };
  part('stage').textContent = ends[/** @type {'complete'} */ (detail.status)] ?? (stage || 'Progress');
  part('stages').replaceChildren(
    ...told.flatMap(({ name, done: reached, of, unit }) => {
      const share = of ? Math.min(100, (100 * reached) / of) : 0;
      const bar = [
        h('span', {}, name),
        h(
          'span',
          { class: 'barr', role: 'progressbar', 'aria-label': name, 'aria-valuenow': Math.round(share) },
          h('i', { style: `width:${share}%` }),
        ),
      ];
      // No count of what cannot begin yet.
      if (!ended() && stage === SPARK && name === 'Read')
        return [...bar, h('span', { class: 'n q' }, 'when Spark runs')];
      return [
        ...bar,
        h(
          'span',
          { class: 'n' },
          of === null && !reached ? '' : count(reached),
          of && of !== reached ? h('span', { class: 'q' }, ` of ${count(of)}`) : null,
          h(
            'span',
            { class: 'q u' },
            unit && (of !== null || reached)
              ? ` ${reached === 1 && (of ?? 1) === 1 ? unit.replace(/s$/, '') : unit}`
              : '',
          ),
        ),
      ];
    }),
  );
  const facts = [
    detail.bytes ? bytes(detail.bytes) : '',
    detail.found ? `${plural(detail.found, 'group')} found` : '',
    !ended() && detail.remaining_s !== null
      ? `about ${detail.remaining_s < 90 ? `${detail.remaining_s} s` : plural(Math.round(detail.remaining_s / 60), 'minute')} left`
      : '',
  ].filter(Boolean);
  part('stage-facts').textContent = facts.join(' · ');
  // Once a stage, not once a count: a screen reader is not a counter.
  const says = done ? 'The import is done.' : stage;
  if (says && says !== announced) {
    announced = says;
    part('stage-says').textContent = says;
  }
}

/** Whether reading has begun: until Spark runs, files are recognised and nothing more. */
const reading = () => ended() || detail.stages.some(({ name, done }) => name === 'Read' && done > 0);

function sources() {
  const known = detail.sources;
  part('sources-says').textContent = known.length
    ? `${plural(known.length, 'file')}, recognised by content and not by name`
    : '';
  part('sources').replaceChildren(...known.map((source) => sourceRow(source, reading())));
}

function groups() {
  const { timelines: rows, matching } = narrowed ?? detail;
  const [from, to] = detail.span ?? [0, 0];
  part('groups-says').textContent = total()
    ? ended()
      ? narrowed
        ? `${count(matching)} of ${count(total())}`
        : `${count(total())}, those with findings first`
      : `${count(total())} found so far`
    : '';
  part('window-says').textContent = detail.span
    ? `rebalances, ${stretch(from, to)}; red: unassigned for over 10 s`
    : '';
  part('narrow').hidden = !ended() || !detail.timelines_in_all;
  part('groups').replaceChildren(
    ...rows.map((row) => groupRow(row, from, to)),
    ...detail.waiting_groups
      .slice(0, WAITING_SHOWN)
      .map((group) =>
        h(
          'tr',
          { class: 'wait' },
          h('td', { class: 'gn' }, group.group),
          h('td', {}, group.protocol),
          h('td', {}, spark([], [], 0, 0, false)),
          h('td', { class: 'vd' }, 'Waiting to be folded'),
          h('td', { class: 'r num' }, count(group.records)),
        ),
      ),
  );
  part('groups-none').textContent =
    narrowed && !rows.length
      ? 'No group fits.'
      : ended()
        ? 'No group was found.'
        : 'Groups stand here from their first record on.';
  const hidden = matching - rows.length;
  part('more').hidden = hidden <= 0;
  part('more-groups').textContent = `Show more of ${count(hidden)}`;
}

/** Asks for the groups that fit what is asked, from the one after those that are shown. @param {number} after */
async function narrow(after) {
  const mine = (asking += 1);
  const query = new URLSearchParams({ q: asked.q, after: String(after) });
  if (asked.hours && detail.span)
    query.set('from_ms', String(Math.max(0, Math.round(detail.span[1] - Number(asked.hours) * 3_600_000))));
  try {
    const found = await ask(`${url}/groups?${query}`);
    // An answer to what was asked before must not stand in the place of a later one.
    if (mine !== asking) return;
    narrowed = after ? { ...found, timelines: [...(narrowed ?? detail).timelines, ...found.timelines] } : found;
  } catch (error) {
    toast(error instanceof Error ? error.message : 'The groups could not be fetched.');
  }
  groups();
}

function ids() {
  const rows = detail.nameless;
  const left = rows.filter(({ name }) => !name).length;
  const named = detail.named;
  part('ids-panel').hidden = !rows.length && !named.length;
  part('ids-foot').hidden = !rows.length;
  part('ids-says').textContent = left ? `${plural(left, 'topic id')} without a name` : 'All topic ids have a name';
  part('named-says').textContent = named.map(({ says, count: number }) => `${number} ${says}`).join('; ');
  part('ids').replaceChildren(...rows.map(idRow));
}

/** @param {Nameless} row */
function idRow(row) {
  const where = [
    row.partitions === null ? '' : `${plural(row.partitions, 'partition')} seen`,
    `group ${row.groups.slice(0, 2).join(', ')}${row.groups.length > 2 ? ` and ${row.groups.length - 2} more` : ''}`,
  ]
    .filter(Boolean)
    .join(', ');
  const first = h('div', { class: 'l1' }, h('code', {}, row.id), h('span', { class: 'quiet' }, where));
  const problem = h('span', { class: 'problem', role: 'alert' });
  if (row.name) {
    return h(
      'li',
      {},
      first,
      h(
        'div',
        { class: 'l2' },
        h('span', {}, 'Shown as ', h('b', {}, row.name), ', named by you'),
        h(
          'button',
          { class: 'btn sm bare', type: 'button', onclick: () => nameTopic(row, null, problem) },
          'Take back',
        ),
        problem,
      ),
    );
  }
  const field = /** @type {HTMLInputElement} */ (
    h('input', {
      class: 'field',
      placeholder: 'topic name',
      value: row.suggestion?.name ?? '',
      maxlength: 249,
      required: true,
      'aria-label': `Name of ${row.id}`,
      autocomplete: 'off',
      spellcheck: 'false',
    })
  );
  return h(
    'li',
    {},
    first,
    h('div', {}, row.suggestion ? row.suggestion.why : 'No commit names it'),
    h(
      'form',
      {
        class: 'l2',
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          nameTopic(row, field.value.trim(), problem);
        },
      },
      field,
      h('button', { class: 'btn sm' }, 'Use this name'),
      problem,
    ),
  );
}

/**
 * Gives an id a name in every timeline that shows it, or takes it back.
 *
 * @param {Nameless} row @param {string | null} wanted @param {HTMLElement} problem
 */
async function nameTopic(row, wanted, problem) {
  problem.textContent = '';
  try {
    for (const timeline of row.timelines) {
      await tell(`/api/timelines/${encodeURIComponent(timeline)}/topics`, 'PATCH', { [row.id]: wanted });
    }
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : 'The name could not be kept.';
    return;
  }
  /** @type {HTMLElement} */ (document.activeElement)?.blur();
  await refresh();
  toast(wanted ? `${row.id} is shown as ${wanted}` : `${row.id} is shown by its id again`);
}

/** Names out of a JSON file, for the ids that have none: `{id: name}` or `{id: {name}}`. @param {File} file */
async function loadNames(file) {
  /** @type {any} */
  let told;
  try {
    told = JSON.parse(await file.text());
  } catch {
    toast(`${file.name} is no JSON`);
    return;
  }
  let given = 0;
  for (const row of detail.nameless.filter(({ name: has }) => !has)) {
    const found = typeof told?.[row.id] === 'string' ? told[row.id] : told?.[row.id]?.name;
    if (!found) continue;
    const problem = h('span', {});
    await nameTopic(row, found, problem);
    if (!problem.textContent) given += 1;
  }
  toast(`${file.name} names ${given} of them`);
}

function skipped() {
  const rows = detail.records.skipped;
  part('skipped-panel').hidden = !rows.length;
  const lost = rows.filter(({ normal }) => !normal).reduce((sum, { records }) => sum + records, 0);
  part('skipped-says').textContent = `${count(lost)} of ${count(detail.records.read)} records`;
  part('skipped').replaceChildren(
    ...rows.map((row) => {
      const offsets =
        row.offset === null
          ? ''
          : row.last_offset !== null && row.last_offset > row.offset
            ? `, offsets ${count(row.offset)} to ${count(row.last_offset)}`
            : `, offset ${count(row.offset)}`;
      return h(
        'li',
        {},
        h('b', {}, row.reason),
        h('span', { class: 'n' }, row.records ? plural(row.records, 'record') : row.normal ? 'normal' : ''),
        h('span', { class: 'at' }, `${row.file}${offsets}${row.normal && row.records ? '; normal' : ''}`),
      );
    }),
  );
}

const refresh = seldom(async () => {
  try {
    detail = await ask(url);
    draw();
  } catch (error) {
    toast(error instanceof Error ? error.message : 'The import could not be read.');
  }
}, FETCH_EVERY_MS);

function listen() {
  let known = -1;
  const hear = (/** @type {any} */ message) => {
    if (message.type === 'progress') {
      const begins = message.stage !== detail.stage || message.timelines !== known;
      known = message.timelines;
      detail.stage = message.stage;
      detail.stages = message.stages;
      detail.bytes = message.bytes ?? detail.bytes;
      detail.remaining_s = message.remaining_s ?? null;
      detail.found = message.found ?? detail.found;
      stages(message.stage, message.stages);
      if (begins) refresh();
    } else if (message.status !== detail.status || message.type === 'status') {
      refresh();
    }
  };
  new Socket({
    url: socketUrl(`/ws/imports/${encodeURIComponent(detail.id)}`),
    hear,
    goesOn: () => !ended(),
    before: () => refresh(true),
  }).open();
}

if (detail.span) showSwitch(part('zone'), detail.span[1]);
onZone(groups);
part('rename').addEventListener('click', async () => {
  const wanted = prompt('Name of this import', detail.title)?.trim();
  if (!wanted || wanted === detail.title) return;
  try {
    await tell(url, 'PATCH', { title: wanted });
    location.reload();
  } catch (error) {
    toast(error instanceof Error ? error.message : 'It could not be renamed.');
  }
});
part('stop').addEventListener('click', async () => {
  try {
    await tell(`${url}/cancel`, 'POST', {});
  } catch (error) {
    toast(error instanceof Error ? error.message : 'It could not be cancelled.');
  }
  refresh();
});
part('delete').addEventListener('click', async () => {
  const number = detail.timelines_in_all;
  if (!confirm(`Delete this import${number ? ` and its ${plural(number, 'timeline')}` : ''}? Links to them end.`))
    return;
  try {
    await tell(url, 'DELETE');
    location.href = '/import/';
  } catch (error) {
    toast(error instanceof Error ? error.message : 'It could not be deleted.');
  }
});
const reportText = () =>
  JSON.stringify(
    {
      timelines: detail.timelines.map(({ id, group, protocol, entries, first_ms, last_ms, gaps }) => ({
        id,
        group,
        protocol,
        entries,
        first_ms,
        last_ms,
        gaps,
      })),
      records: detail.records,
    },
    null,
    2,
  );
part('copy-report').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(reportText());
    toast('The report is in the clipboard');
  } catch {
    toast('The browser did not allow it');
  }
});
part('report').addEventListener('click', () => {
  const link = /** @type {HTMLAnchorElement} */ (
    h('a', {
      href: URL.createObjectURL(new Blob([reportText()], { type: 'application/json' })),
      download: `import-${detail.id}.json`,
    })
  );
  link.click();
  URL.revokeObjectURL(link.href);
});
part('more-groups').addEventListener('click', () => narrow((narrowed ?? detail).timelines.length));
let typing = 0;
part('search').addEventListener('input', (event) => {
  asked.q = /** @type {HTMLInputElement} */ (event.target).value.trim();
  clearTimeout(typing);
  typing = setTimeout(() => narrow(0), SEARCH_AFTER_MS);
});
part('hours').addEventListener('change', (event) => {
  asked.hours = /** @type {HTMLSelectElement} */ (event.target).value;
  narrow(0);
});
part('names-file').addEventListener('change', (event) => {
  const file = /** @type {HTMLInputElement} */ (event.target).files?.[0];
  if (file) loadNames(file);
});

draw();
if (!ended()) {
  listen();
  setInterval(() => {
    if (!ended()) head();
  }, 1000);
}
document.documentElement.dataset.alive = 'true';
