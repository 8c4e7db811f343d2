/**
 * Timelines side by side: one board each, one playhead, locked by the time since each began, by event or by epoch. What a board shows
 * otherwise than the first one is marked.
 *
 * @import {Cost, Seen} from '../compare/compare.js'
 */

import { ask, file } from '../shared/api.js';
import { Banners } from '../live/banners.js';
import { Lanes } from '../board/lanes.js';
import { Cast } from '../frame/cast.js';
import { tracks } from '../compare/compare-tracks.js';
import { bareSince, begun, consumedIn, costOf, lagAt, lostUntil, seenFrom } from '../compare/compare.js';
import { readTwiceSince } from '../frame/consumption.js';
import { choose } from '../compare/choosing.js';
import { differences, differenceWords, firstDifference, LOCKS, stopAt, stopsOf } from '../compare/positions.js';
import { calm, h, part } from '../shared/dom.js';
import { toast } from '../shared/toast.js';
import { partitionSeconds, twiceText, unreadText } from '../figures/lag-words.js';
import { grouped } from '../shared/numbers.js';
import { Labels } from '../frame/labels.js';
import { wireSaving } from '../sharing/saving.js';
import { watchLink } from '../source/link.js';
import { openSealed } from '../source/sealed.js';
import { Spans } from '../frame/spans.js';
import { PAUSE_SHAPE, PLAY_SHAPE, Player } from '../timeline/player.js';
import { Timeline } from '../timeline/timeline.js';
import { CLOCK_FROM_MS, clock, zoneName } from '../shared/times.js';
import { keep } from '../shared/url.js';
import { messageOf } from '../shared/errors.js';
import { columnsOf, partitionsOf, unowned } from '../frame/view.js';
import { duration } from '../frame/words.js';

/** How much of the runs' time passes in a second of playing, and how often the boards are drawn meanwhile. */
const PACE = 2;
const TICK_MS = 100;
/** Ticks of playing between two events, or two epochs. */
const TICKS_A_STEP = 6;
/** Runs that last longer are played faster. */
const PLAYED_MOST_MS = 300_000;

/** From when on the runs are compared: how the group formed before may be another story. */
let from_ms = 0;

/**
 * What is compared, by a server or all in the page, and where it is at first.
 *
 * @typedef {object} Given
 * @property {any[]} metas
 * @property {(run: number, first: number) => Promise<import('../types').Chunk>} chunk of a run
 * @property {number} from_ms
 * @property {number} at_ms
 * @property {string[]} changed parts of the page that are not as they were written
 *
 * @returns {Promise<Given | null>}
 */
async function given() {
  if (document.getElementById('incident')) {
    const { changed, read, needed } = await openSealed(document);
    const known = await needed('runs');
    return { ...known, chunk: (run, first) => read(`run-${run}-chunk-${first}`), changed };
  }
  const data = document.getElementById('runs-data');
  if (!data) return null;
  const metas = JSON.parse(data.textContent ?? '[]');
  return {
    metas,
    chunk: (run, first) => ask(`/api/timelines/${encodeURIComponent(metas[run].id)}/chunks/${first}`),
    from_ms: numberIn('from_ms'),
    at_ms: numberIn('at_ms'),
    changed: [],
  };
}

class Run {
  /** @param {any} meta @param {HTMLElement} root @param {(first: number) => Promise<import('../types').Chunk>} chunk */
  constructor(meta, root, chunk) {
    this.meta = meta;
    this.root = root;
    this.chunk = chunk;
    this.cast = new Cast(meta.summary.cast);
    this.labels = new Labels();
    this.spans = /** @type {Spans | null} */ (null);
    /** @type {Seen[]} */
    this.seen = [];
    /** @type {import('../compare/compare.js').Consumed[]} */
    this.consumed = [];
    this.shown = /** @type {Seen | null} */ (null);
    /** Its own first time, and that at which its time is 0. */
    this.start_ms = 0;
    this.begin_ms = 0;
    this.end_ms = 0;
    this.scale_ms = 1;
    /** @type {import('../types').Column[]} */
    this.columns = [];
  }

  async load() {
    const { chunks } = this.meta;
    const timeline = new Timeline({ chunks, load: this.chunk });
    for (const { first } of chunks) {
      const chunk = await this.chunk(first);
      timeline.give(chunk);
      this.consumed.push(...consumedIn(chunk));
    }
    const spans = new Spans(this.cast);
    timeline.walk(
      (moment, frame) => {
        spans.add(moment, frame);
        this.seen.push({ moment, frame, at_ms: moment.at_ms });
      },
      (frame) => {
        spans.start(frame);
        this.seen.push({ moment: null, frame, at_ms: frame.at_ms });
      },
    )();
    this.seen = begun(this.seen);
    this.start_ms = this.seen[0]?.at_ms ?? 0;
    this.spans = spans;
  }

  /** What comes from a time on is compared. @param {number} begin_ms where this run's time is 0 */
  begin(begin_ms) {
    const spans = /** @type {Spans} */ (this.spans);
    this.begin_ms = begin_ms;
    this.seen = seenFrom(this.seen, begin_ms + from_ms);
    this.end_ms = this.seen[this.seen.length - 1]?.at_ms ?? 0;
    this.columns = columnsOf(spans.counts);
    this.labels.meet(spans.counts.keys());
    const always = this.cast.lanes.map((lane) => lane.key);
    this.lanes = new Lanes(this.part('board'), {
      columns: this.columns,
      cast: this.cast,
      labels: this.labels,
      compact: true,
      always,
    });
  }

  /** @param {string} name */
  part(name) {
    return /** @type {HTMLElement} */ (this.root.querySelector(`[data-part='${name}']`));
  }

  /** @param {number} length_ms */
  measure(length_ms) {
    this.cost = costOf(this.seen, this.begin_ms + length_ms, this.consumed);
    const { frame: rest } = this.seen[this.seen.length - 1] ?? {};
    // Since then nobody began to read, or stopped: readers of the same partitions continue.
    const same = rest?.consumption?.read_twice === this.consumed[this.consumed.length - 1]?.read_twice;
    if (rest && same && this.cost.read_twice !== null)
      this.cost.read_twice += readTwiceSince(rest, this.begin_ms + length_ms);
    this.part('all').textContent = seconds(this.cost.lost_ms);
    const { lag_max, read_twice, skipped } = this.cost;
    this.part('records').hidden = lag_max === null;
    this.part('lag-max').textContent = grouped(lag_max ?? 0);
    this.part('twice').textContent = grouped(read_twice ?? 0);
    this.part('skipped').textContent = skipped ? `, ${grouped(skipped)} skipped` : '';
  }

  /** One scale for the strokes of all runs, so that they can be compared. @param {number} most_ms */
  compareWith(most_ms) {
    this.scale_ms = Math.max(1, most_ms);
    this.part('strokes').style.setProperty('--all', String((this.cost?.lost_ms ?? 0) / this.scale_ms));
  }

  /** @param {string} member */
  name = (member) => this.cast.name(member);

  /**
   * @param {number} place in what was seen @param {number} at_ms its time, or later
   * @param {boolean} animate
   * @param {import('../compare/positions.js').Shown | null} first what the first board shows, where this is another one
   */
  show(place, at_ms, animate, first) {
    const cost = /** @type {Cost} */ (this.cost);
    const lost_ms = lostUntil(cost, at_ms);
    this.part('lost').textContent = seconds(lost_ms);
    this.part('strokes').style.setProperty('--lost', String(lost_ms / this.scale_ms));
    const seen = this.seen[place];
    this.part('lag').textContent = grouped(lagAt(this.consumed, at_ms) ?? 0);
    if (!seen) return null;
    const shown = { frame: seen.frame, name: this.name };
    const differs = first && differences(shown, first);
    const words = differs ? differenceWords(differs, 1) : '';
    if (seen === this.shown && words === this.part('differs').textContent) return shown;
    this.part('differs').textContent = words;
    const forward = this.shown !== null && seen.at_ms >= this.shown.at_ms;
    this.shown = seen;
    const frame = { ...seen.frame, at_ms };
    this.cast.meetFrame(frame);
    const views = partitionsOf(frame);
    const bare = bareSince(cost, at_ms);
    const since = (/** @type {string} */ key) => bare.get(key) ?? null;
    this.lanes?.render(
      {
        frame,
        moment: seen.moment,
        views,
        free: unowned(frame, this.columns, views),
        since,
        forward,
        ...(differs && { differs }),
      },
      animate,
    );
    const state = frame.state ?? 'unknown';
    this.part('state').dataset.s = state;
    this.part('state').replaceChildren(h('i'), state);
    this.part('now').textContent = seen.moment?.narration ?? seen.moment?.says ?? '';
    return shown;
  }
}

async function compare() {
  const from = await given();
  if (!from) return;
  from_ms = from.from_ms;
  const roots = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.run'))];
  const runs = from.metas.map((meta, at) => new Run(meta, roots[at], (first) => from.chunk(at, first)));
  if (from.changed.length) new Banners(part('banners')).changed(from.changed);
  await Promise.all(runs.map((/** @type {Run} */ run) => run.load()));
  const clock_ms = alignedAt(runs);
  for (const run of runs) run.begin(clock_ms ?? run.start_ms);
  const length_ms = Math.max(1, ...runs.map((/** @type {Run} */ run) => run.end_ms - run.begin_ms));
  for (const run of runs) run.measure(length_ms);
  const most_ms = Math.max(...runs.map((/** @type {Run} */ run) => run.cost?.lost_ms ?? 0));
  for (const run of runs) run.compareWith(most_ms);
  const head = tracks(runs, { from_ms, to_ms: length_ms });
  scorecard(runs);
  if (!document.getElementById('incident')) costs(runs).catch(() => {});
  const slider = /** @type {HTMLInputElement} */ (part('time'));
  const { searchParams } = new URL(location.href);
  const lock = LOCKS.find((one) => one === searchParams.get('lock')) ?? 'time';
  const stops = stopsOf(lock, runs);
  const least = lock === 'time' ? from_ms : stops[0].at;
  const most = lock === 'time' ? length_ms : stops[stops.length - 1].at;
  slider.min = String(least);
  slider.max = String(most);
  const within = (/** @type {number} */ at) => Math.min(most, Math.max(least, at));
  const param = lock === 'time' ? 'at_ms' : 'at';
  let now = within(numberIn(param) || (lock === 'time' ? from.at_ms : 0));
  const pace = Math.max(PACE, length_ms / PLAYED_MOST_MS);
  const placeText = () => {
    if (lock !== 'time') return `${lock} ${now} of ${most}`;
    return clock_ms === null ? `${seconds(now)} s` : `${clock(clock_ms + now)} ${zoneName(clock_ms + now)}`;
  };
  const draw = (/** @type {boolean} */ animate) => {
    slider.value = String(now);
    part('at').textContent = placeText();
    const { places } = stopAt(stops, now);
    const times = runs.map((run, number) => (lock === 'time' ? run.begin_ms + now : run.seen[places[number]].at_ms));
    head(times.map((at_ms, number) => at_ms - runs[number].begin_ms));
    /** @type {import('../compare/positions.js').Shown | null} */
    let first = null;
    runs.forEach((run, number) => {
      const shown = run.show(places[number], times[number], animate && !calm(), first);
      first ??= shown;
    });
  };
  const keepPlace = () => keep(param, String(Math.round(now)));
  const stepped = (/** @type {1 | -1} */ way) =>
    (way > 0 ? stops.find(({ at }) => at > now) : stops.findLast(({ at }) => at < now))?.at;
  const player = new Player({
    next: async () => {
      now = within(lock === 'time' ? now + TICK_MS * pace : (stepped(1) ?? most));
      draw(true);
      return now < most;
    },
    onState: (playing) => {
      part('play-word').textContent = playing ? 'Pause' : 'Play all';
      part('play-shape').setAttribute('d', playing ? PAUSE_SHAPE : PLAY_SHAPE);
      if (!playing) keepPlace();
    },
    length: () => TICK_MS * (lock === 'time' ? 1 : TICKS_A_STEP),
  });
  const toggle = () => {
    if (!player.playing && now >= most) now = least;
    player.toggle();
  };
  const go = (/** @type {number | undefined} */ at) => {
    player.pause();
    if (at !== undefined) now = within(at);
    draw(true);
    keepPlace();
  };
  const step = (/** @type {1 | -1} */ way) => go(stepped(way));
  const partWays = () => {
    const found = firstDifference(stops, runs);
    if (!found) return toast('The boards are equal at every position of the playhead.');
    go(found.at);
  };
  choices('lock', lock, (value) => ({ lock: value, at: null, at_ms: null }));
  part('part-ways').addEventListener('click', partWays);
  part('play').addEventListener('click', toggle);
  part('on').addEventListener('click', () => step(1));
  part('back').addEventListener('click', () => step(-1));
  slider.addEventListener('input', () => {
    now = Number(slider.value);
    draw(false);
  });
  slider.addEventListener('change', () => {
    player.pause();
    keepPlace();
  });
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest('input, button, a, select, textarea') && event.key !== 'Escape') return;
    // Where it is wider than the screen, arrows move what is focused.
    if (target.id === 'tracks' && target.scrollWidth > target.clientWidth && event.key !== ' ') return;
    if (event.key === ' ') toggle();
    else if (event.key === 'ArrowRight') step(1);
    else if (event.key === 'ArrowLeft') step(-1);
    else if (event.key === 'd' && !event.ctrlKey && !event.metaKey) partWays();
    else return;
    event.preventDefault();
  });
  draw(false);
  const save = document.getElementById('save-file');
  if (save) {
    const asked = () => ({
      runs: runs.map(({ meta }) => meta.id),
      from_ms,
      at_ms: Math.round(lock === 'time' ? now : runs[0].seen[stopAt(stops, now).places[0]].at_ms - runs[0].begin_ms),
    });
    wireSaving(asked, (body) => file('/api/comparisons/exports', body));
  }
  watchLink({ page: document, onEnd: () => player.pause() });
  document.documentElement.dataset.alive = 'true';
}

/**
 * Logs have a time of day, so that their readers can choose: each from its own start, or all by the clock.
 *
 * @param {Run[]} runs
 * @returns {number | null} the time at which the first begins, where the clock was chosen
 */
function alignedAt(runs) {
  const begins = runs.map(({ start_ms }) => start_ms);
  const real = runs.length > 1 && begins.every((ms) => ms >= CLOCK_FROM_MS);
  const chosen = real && new URL(location.href).searchParams.get('align') === 'clock' ? 'clock' : 'start';
  part('align').hidden = !real;
  choices('align', chosen, (value) => ({ align: value, at_ms: null }));
  return chosen === 'clock' ? Math.min(...begins) : null;
}

/**
 * Buttons of which one is chosen; another one opens the page with another address.
 *
 * @param {string} id @param {string} chosen @param {(value: string) => {[name: string]: string | null}} asked
 */
function choices(id, chosen, asked) {
  for (const button of part(id).querySelectorAll('button')) {
    const value = button.dataset.value ?? '';
    button.setAttribute('aria-pressed', String(value === chosen));
    button.addEventListener('click', () => {
      const url = new URL(location.href);
      for (const [name, text] of Object.entries(asked(value)))
        if (text === null) url.searchParams.delete(name);
        else url.searchParams.set(name, text);
      location.replace(url);
    });
  }
}

/** @param {Run[]} runs */
function scorecard(runs) {
  /** @type {[string, (cost: Cost) => number, (value: number) => string][]} */
  const ofRecords = [
    ['Lag at most, in records', (cost) => cost.lag_max ?? 0, grouped],
    ['Records read twice', (cost) => cost.read_twice ?? 0, grouped],
    ['Records skipped', (cost) => cost.skipped ?? 0, grouped],
  ];
  const rated = runs.every((run) => run.cost?.lag_max !== null);
  const skips = runs.some((run) => run.cost?.skipped);
  /** @type {[string, (cost: Cost) => number, (value: number) => string][]} */
  const measures = [
    ['Partition-seconds lost', (cost) => cost.lost_ms, seconds],
    ['Partitions that stopped', (cost) => cost.stopped, String],
    ['Longest stop of one', (cost) => cost.longest_ms, duration],
    ['Moves of partitions', (cost) => cost.moved, String],
    ['Epochs or generations', (cost) => cost.epochs, String],
    ...(rated ? ofRecords.slice(0, skips ? 3 : 2) : []),
    ['Last change of a reader', (cost) => cost.settled_ms, duration],
  ];
  part('card').replaceChildren(
    h(
      'thead',
      h(
        'tr',
        h('th', { scope: 'col' }, 'Measure'),
        runs.map((run, at) => h('th', { scope: 'col', title: run.meta.title }, String(at + 1))),
      ),
    ),
    h(
      'tbody',
      measures.map(([title, of, text]) => {
        const values = runs.map(
          (run) => of(/** @type {Cost} */ (run.cost)) - (title === 'Last change of a reader' ? run.start_ms : 0),
        );
        // Two that read the same are equally good.
        const read = new Map(values.map((value) => [text(value), value]));
        return measureRow(title, values.map(text), (one) => read.get(one) ?? 0);
      }),
    ),
  );
}

/**
 * What the time from where the runs are compared cost, as the product counts it everywhere: asked of the server, so that a file has it not.
 *
 * @param {Run[]} runs
 */
async function costs(runs) {
  const found = await Promise.all(
    runs.map(({ meta, seen }) => {
      const from = Math.max(1, seen.find(({ moment }) => moment)?.moment?.sequence ?? 1);
      return ask(`/api/timelines/${encodeURIComponent(meta.id)}/range?from=${from}&to=${meta.last}`);
    }),
  );
  if (!found.every(({ is_known }) => is_known)) return;
  /** @type {[string, (cost: import('../panels/tracks-control.js').RangeCost) => string][]} */
  const measures = [
    ['Partition-seconds unassigned', (cost) => partitionSeconds(cost.unassigned_partition_ms)],
    ['Partition-seconds not read', (cost) => unreadText(cost)],
    ['Rebalances', (cost) => grouped(cost.rebalances)],
    ['Partitions moved, by rebalance', (cost) => grouped(cost.moved)],
    ['Members interrupted', (cost) => grouped(cost.interrupted.length)],
    ['Records read twice', (cost) => twiceText(cost) ?? 'not known'],
  ];
  const body = part('card').querySelector('tbody');
  const shown = new Set([...part('card').querySelectorAll('th[scope=row]')].map(({ textContent }) => textContent));
  for (const [title, text] of measures)
    if (!shown.has(title))
      body?.append(measureRow(title, found.map(text), (one) => Number.parseFloat(one.replace(/^[a-z ]+|,/g, ''))));
}

/** @param {string} title @param {string[]} texts @param {(text: string) => number} value the least is the best, unless all read the same */
function measureRow(title, texts, value) {
  const best = texts.reduce((one, other) => (value(other) < value(one) ? other : one));
  const differ = new Set(texts).size > 1 && Number.isFinite(value(best));
  return h(
    'tr',
    h('th', { scope: 'row' }, title),
    texts.map((text) => h('td', differ && text === best ? h('b', text) : text)),
  );
}

/** A time of the address, in milliseconds, or a position. @param {string} name */
function numberIn(name) {
  return Math.max(0, Number(new URL(location.href).searchParams.get(name)) || 0);
}

/** @param {number} length_ms */
function seconds(length_ms) {
  return (length_ms / 1000).toFixed(1);
}

choose();
compare().catch((error) => {
  part('boards').replaceChildren(
    h('p.banner.bad', { role: 'alert' }, messageOf(error, 'These timelines could not be loaded.')),
  );
});
