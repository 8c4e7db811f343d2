/**
 * The page of a timeline: wires the parts together. Every part receives what to show; only this file knows all.
 *
 * @import {Meta} from '../types'
 * @import {Rest} from '../timeline/timeline.js'
 */

import { Banners } from '../live/banners.js';
import { followTracks, loops, openTracks, showPlaying, stepLength, wireControls } from '../panels/board-controls.js';
import { walk } from '../board/grid-keys.js';
import { Cast } from '../frame/cast.js';
import { part, partsOf, press } from '../shared/dom.js';
import { kept } from '../shared/kept.js';
import { GroupHead } from '../panels/group-head.js';
import { looksLike, violationsOf } from '../frame/hardships.js';
import { offsetMarks, placeOf } from '../frame/offset-marks.js';
import { Inspector } from '../panels/inspector.js';
import { Labels } from '../frame/labels.js';
import { isStillToCome, leadIn, missingMoment, openingOf, opensAtWorst } from '../timeline/opening.js';
import { keySteps } from '../shared/key-steps.js';
import { showPatterns } from '../panels/patterns.js';
import { Player } from '../timeline/player.js';
import { Problems } from '../panels/problems.js';
import { Reading, isStory } from '../panels/reading.js';
import { Seeking } from '../panels/seeking.js';
import { SourceBanner } from '../live/source-banner.js';
import { watchLink } from '../source/link.js';
import { openPage } from '../source/page.js';
import { showPlayhead } from '../timeline/playhead-words.js';
import { SidePanels } from '../panels/side-panels.js';
import { sizeOf } from '../stage/size.js';
import { TrackStage } from '../stage/tracks.js';
import { connect } from '../live/still-to-come.js';
import { explain } from '../shared/terms.js';
import { Timeline } from '../timeline/timeline.js';
import { copyLink, rename, saveNames, wireForks, wireSharing } from '../panels/timeline-actions.js';
import { CLOCK_FROM_MS, onZone, showSwitch } from '../shared/times.js';
import { orToast, toast } from '../shared/toast.js';
import { showTopicNames } from '../panels/topic-names.js';
import { unreadOf } from '../frame/unread.js';
import { Address, momentOf, withoutMoment } from '../shared/url.js';
import { counted } from '../shared/numbers.js';
import { followLinks, showVerdict } from '../panels/verdict.js';

/** What is made of a timeline's moments is made again at most this often while it grows. */
const GROW_MS = 250;
/** Chunks of a crowd that stay in memory: the one that is shown, its neighbours, and where one was before. */
const CROWD_CHUNKS = 5;

const { meta, first: firstChunk, api, server, panels, view: fixedView, changed } = await openPage();
// Asked before anything moves: the address loses the wish with the first moment that it follows.
const openedAt = location.search;
const wantsPlay = new URLSearchParams(location.search).get('play') === '1';

const size = sizeOf(meta);
const cast = new Cast(meta.summary.cast ?? []);
const labels = new Labels();
labels.remember(meta.summary.topics);
const crowd = size === 'crowd' ? await import('../stage/making-crowd.js') : null;
const ownership = crowd && new crowd.Ownership();
const timeline = new Timeline({
  chunks: meta.chunks,
  load: api.chunk,
  follower: ownership,
  keep: size === 'whole' ? Infinity : CROWD_CHUNKS,
});
let picked = /** @type {string | null} */ (null);
let following = false;
/** Whether the board still is where an import opened: then Space shows how it came to that. */
let opensAtTrouble = false;
/** Whether the moment of the link is still being computed, and the reader has not moved since: the board goes there once it is here. */
let awaitsMoment = false;
/** Whether what moves the board is not its reader. */
let isLed = false;
/** @type {Promise<ReturnType<typeof import('../live/together-bar.js').join>> | undefined} */
let joined;

const violationAt = (/** @type {import('../types').Moment} */ { first, sequence }) =>
  violationsOf(meta.summary).find((one) => one.sequence >= first && one.sequence <= sequence) ?? null;
const places = {
  ...partsOf('board', 'tracks', 'log', 'chain', 'commits', 'partition'),
  filter: part('who-filter'),
};
const shared = {
  timeline,
  meta,
  cast,
  labels,
  places,
  violationAt,
  fetchOffsets: server?.offsets ?? null,
  onSeek: (/** @type {number} */ sequence) => seeking.scrub(sequence),
  onPick: (/** @type {string | null} */ key) => pick(key),
  onSettled: () => {
    if (timeline.rest) show(timeline.rest, { animate: false, before: timeline.position });
  },
};
const stage =
  crowd && ownership
    ? crowd.crowdStage({
        ...shared,
        ownership,
        fetchDigest: api.digest,
        picked: () => picked,
        start_ms: () => start_ms(),
      })
    : new TrackStage({ ...shared, whole: size === 'whole' });
const found = (/** @type {string} */ kind) => meta.summary.findings?.some((one) => one.kind === kind) ?? false;
const head = new GroupHead({
  ...partsOf('state', 'epochs', 'now', 'gap', 'coordinator'),
  cast,
  labels,
  numberOf: (sequence) => timeline.numberOf(sequence),
  looksLike: (moment) => looksLike(meta.summary, moment),
  midway: () => found('midway'),
});
const inspector = new Inspector({
  root: part('details'),
  range: part('range'),
  cast,
  timeline: meta.id,
  fetchEntries: api.entries,
  fetchBytes: panels?.bytes ?? null,
  inspects: server !== null,
  momentAt: (sequence) => timeline.momentAt(sequence),
  changesOf: (moment) => timeline.changesOf(moment),
  causeOf: (moment) => stage.causeOf(moment),
  numberOf: (moment) => timeline.numberOf(moment.sequence),
});
const side = new SidePanels({
  panels,
  server,
  cast,
  timeline,
  onSeek: (sequence) => seeking.go(sequence),
  isIdle: () => !player.playing,
});
const banners = new Banners(part('banners'));
const source = new SourceBanner(meta, banners);
const address = new Address();
const reading = new Reading(meta.source, { fixed: fixedView, shared: server ? null : 'investigator' });
const player = new Player({ next: nextStep, onState: showPlaying, length: () => stepLength(timeline) });
const seeking = new Seeking({
  timeline,
  banners,
  epochs: () => stage.epochs,
  show,
  onMove: () => {
    opensAtTrouble = false;
    awaitsMoment = false;
    if (!isLed) joined?.then(({ alone }) => alone());
  },
});
const problems = new Problems({
  root: part('problems'),
  go: (sequence) => seeking.go(sequence),
  at: () => ({
    first: timeline.rest?.moment?.first ?? timeline.rest?.sequence ?? timeline.origin,
    last: timeline.rest?.sequence ?? timeline.origin,
  }),
});
/** Where a story pauses while it plays. @type {Set<number>} */
let pauses = new Set();

/** Whether more may come at the end. */
const live = () => meta.status === 'running';
const start_ms = () => meta.summary.first_ms ?? timeline.moments[0]?.at_ms ?? 0;
/** @param {Rest | null} rest @param {{animate: boolean, before: number}} how */
function show(rest, { animate, before }) {
  if (!rest) return;
  const position = timeline.position;
  following = timeline.atEnd;
  const { views, violation } = stage.show(rest, { animate, forward: position - before === 1 });
  const at = placeOf(rest);
  const unread = unreadOf(rest.frame, meta.summary.silences ?? [], at);
  head.render(rest, views, violation, unread, offsetMarks(meta.summary.findings ?? [], at));
  reading.announce(part('now').textContent ?? '', { begins: position === 0, ends: timeline.whole && timeline.atEnd });
  inspector.render(rest);
  side.move(rest);
  problems.move();
  part('continue').hidden = true;
  showPlayhead(rest, timeline, { start_ms: start_ms(), timelineId: meta.id });
  address.follow(rest.sequence);
}

async function togglePlay() {
  if (opensAtTrouble) await seeking.go(leadIn(timeline));
  if (!player.playing && timeline.atEnd && !live()) await seeking.go(timeline.origin);
  part('continue').hidden = true;
  player.toggle();
}

/** One step of what plays; false at the end. A story pauses at its key steps, until its reader goes on. */
async function nextStep() {
  if (loops() && seeking.atEnd) return (await seeking.begin()) !== null;
  const rest = await seeking.step(1);
  if (rest && !timeline.atEnd && reading.view === 'reader' && pauses.has(rest.sequence)) {
    player.pause();
    part('continue').hidden = false;
    part('play-word').textContent = 'Continue';
  }
  return rest !== null || live();
}

/** @param {string | null} key */
function pick(key) {
  picked = key;
  if (key) player.pause();
  stage.pick(key);
}

let growing = /** @type {any} */ (null);

/** The tail has moved. */
function grow() {
  if (growing) return;
  growing = setTimeout(async () => {
    growing = null;
    const toFollow = following;
    await stage.grow();
    const rest = timeline.rest;
    if (!rest || awaitsMoment) {
      await open();
      // The first chunk may only have come with this step: all that is made of its moments is made now.
      await stage.grow();
    } else if (toFollow && !player.playing && !timeline.atEnd) await lead(timeline.last);
    else show(rest, { animate: false, before: timeline.position });
    showStatus();
  }, GROW_MS);
}

function showStatus() {
  banners.status(meta, timeline.last, async () => {
    await orToast('This could not be cancelled.', async () => {
      await server?.cancel();
      toast('Cancelled. What was computed stays.');
    });
  });
  source.show();
  banners.gaps(meta);
  banners.violations(violationsOf(meta.summary));
  banners.differences(meta.summary);
  part('basis').textContent = `Computed from ${counted(timeline.last, 'entry', 'entries')}`;
  part('empty').hidden = !timeline.empty;
  part('stage').hidden = timeline.empty;
}

/** @param {any} message */
function hearStatus(message) {
  if (message.status) meta.status = message.status;
  if (message.problem !== undefined) meta.problem = message.problem;
  if (message.waits !== undefined) meta.waits = message.waits;
  if (message.summary) {
    meta.summary = message.summary;
    cast.meet(meta.summary.cast ?? []);
    if (sizeOf(meta, Object.keys(timeline.rest?.frame.members ?? {}).length) === 'crowd' && !ownership) {
      // The group has outgrown its lanes. Who followed its end goes on following.
      location.replace(following ? location.pathname : location.href);
      return;
    }
    labels.follow(meta.summary.protocol);
    labels.remember(meta.summary.topics);
    if (meta.summary.protocol) part('protocol').textContent = meta.summary.protocol;
    showFound();
    if ('map' in stage) stage.map.refresh();
    if (server) showTopicNames(part('topic-names'), meta, (names) => saveNames(server, names));
  }
  showStatus();
  if (message.status && message.status !== 'running') {
    side.figure?.refresh();
    hearProblems();
  }
}

/** What went wrong is known when all has been read. */
async function hearProblems() {
  meta.troubles = (await server?.detail().catch(() => null))?.troubles ?? meta.troubles;
  problems.load(meta.troubles ?? [], start_ms());
  await stage.grow();
  problems.move();
}

/** @param {1 | -1} direction */
function stepProblem(direction) {
  player.pause();
  return problems.step(direction);
}

/** Moves the board for another reason than its reader's. @param {number} sequence */
function lead(sequence) {
  isLed = true;
  const going = seeking.go(sequence);
  isLed = false;
  return going;
}

/** To where the address or the timeline wants the board to be. */
async function open() {
  const wanted = openingOf(meta, openedAt, timeline);
  await lead(wanted);
  awaitsMoment = isStillToCome(meta, openedAt, timeline);
  // A reload waits for the same moment.
  if (awaitsMoment) address.follow(wanted);
}

function wire() {
  explain();
  if (server) wireSharing(server, timeline);
  if (server) wireForks(meta.id, timeline);
  if (stage instanceof TrackStage) {
    const { events } = stage;
    walk(part('board'), (lane) => events.only(lane));
  }
  wireControls({
    stage,
    timeline,
    seeking,
    player,
    inspector,
    togglePlay,
    stepProblem,
    copyLink: () => copyLink(timeline, reading.view),
    rename: () => rename(meta, server),
    unpick: () => pick(null),
    pick,
    start_ms,
    server,
  });
  followLinks(document.body, (sequence) => seeking.go(sequence));
  // Seconds of a simulation have no zone.
  if (start_ms() >= CLOCK_FROM_MS) {
    showSwitch(part('zone'), meta.summary.last_ms ?? start_ms());
    onZone(() => stage.grow());
  }
}

/** What is still being computed or read comes through a socket. @param {import('../source/page.js').Served} from */
function follow(from) {
  connect({
    url: from.socket,
    timeline,
    fetchAfter: from.after,
    onTail: grow,
    onHello: (hello) => {
      if (hello.fold_version !== meta.fold_version) location.reload();
      else if (hello.status && hello.status !== meta.status) hearStatus({ status: hello.status });
    },
    onLive: (known) => source.hear(known),
    onStatus: hearStatus,
    // A run shows what it came to at its end; a live group has none, and is shown as it goes on.
    onSummary: (/** @type {any} */ summary) => {
      if (meta.source === 'live') hearStatus({ type: 'status', summary });
    },
    asksSummary: meta.source === 'live',
    onLink: (link, hurry) => {
      part('board').dataset.link = link;
      banners.link(link, hurry);
    },
  });
}

/** The headline, the story, and what else was found. */
function showFound() {
  showVerdict(part, meta.summary, meta.release);
  showPatterns(/** @type {HTMLDetailsElement} */ (part('patterns')), meta.summary);
}

/** Where people have names, it is shown who is here; elsewhere a press joins. @param {import('../source/page.js').Served} from */
function wireTogether({ base }) {
  const now = () => ({ at: timeline.rest?.sequence ?? 0, picked });
  const panel = /** @type {HTMLDetailsElement} */ (part('notes-panel'));
  /** @type {import('../live/notes-panel.js').NotesPanel | undefined} */
  let notes;
  const onNotes = (/** @type {string} */ stamp) => {
    part('notes-count').textContent = stamp === '0' ? 'none yet' : (stamp.split(' ')[0] ?? '');
    notes?.hear(stamp);
  };
  const openNotes = async () => {
    if (!panel.open || notes) return;
    const { NotesPanel } = await import('../live/notes-panel.js');
    notes ??= new NotesPanel({ root: part('notes'), base, at: () => now().at, start_ms, onShown: pinNotes });
    joined ??= join();
  };
  const tracks = stage instanceof TrackStage ? stage.view : null;
  const join = async () =>
    (await import('../live/together-bar.js')).join({ id: meta.id, base, now, look, onNotes, tracks });
  const button = part('together-open');
  button.addEventListener('click', async () => (await (joined ??= join())).open());
  panel.addEventListener('toggle', openNotes);
  openNotes();
  if (button.dataset.named || kept(`together ${meta.id}`, 'sessionStorage')) joined = join();
}

/** The numbers of the notes below the tracks are in the tracks, too. */
function pinNotes() {
  if (!(stage instanceof TrackStage)) return;
  const at = [...document.querySelectorAll('.notes > li')].map((note) => note.querySelector('[data-at]'));
  if (!at.length && !stage.view.notes.length) return;
  stage.view.notes = at.map((link) => Number(link?.getAttribute('data-at')));
  stage.view.redraw();
}

let looks = 0;

/** Shows what a presenter looks at. @param {string} view of an address @param {string} before what was shown last */
async function look(view, before) {
  looks += 1;
  const mine = looks;
  player.pause();
  if (withoutMoment(view) !== withoutMoment(before)) {
    pick(new URLSearchParams(view).get('picked'));
    await followTracks(view);
    // The presenter went on meanwhile: its moment now was shown already.
    if (mine !== looks) return;
  }
  await lead(momentOf(view) ?? timeline.last);
}

async function begin() {
  wire();
  pinNotes();
  if (firstChunk) timeline.give(firstChunk);
  if (meta.source === 'import' || meta.source === 'live') {
    stage.axis = 'time';
    press(part('axis'), 'time');
  }
  if (server) showTopicNames(part('topic-names'), meta, (names) => saveNames(server, names));
  showFound();
  if (changed.length) banners.changed(changed);
  part('coordinator').hidden = !found('failed_over');
  showStatus();
  const missing = missingMoment(meta, openedAt, timeline);
  if (missing) banners.show('moment', 'warn', '', missing);
  if (!timeline.empty) {
    await open();
    opensAtTrouble = opensAtWorst(meta, openedAt);
    openTracks(openedAt);
  }
  const grown = stage.grow();
  if (!ownership) await grown;
  if (isStory(meta.source)) pauses = keySteps(timeline.steps);
  problems.load(meta.troubles ?? [], start_ms());
  problems.move();
  // What a test, or a reader with a console, compares with the frame that the server computes.
  Object.assign(window, {
    rebalanceExplorer: {
      timeline,
      stage,
      go: (/** @type {number} */ sequence) => seeking.go(sequence),
      frame: () => timeline.rest?.frame ?? null,
    },
  });
  document.documentElement.dataset.alive = 'true';
  performance.mark('alive');
  // A reader who came to watch looks at the board first, and presses Space: nothing moves before.
  if (wantsPlay) part('play').focus();
  if (server && (meta.status === 'running' || meta.status === 'interrupted')) follow(server);
  if (server) source.watch();
  if (server) wireTogether(server);
  if (!server) watchLink({ page: document, onEnd: () => player.pause() });
  side.figure?.watch();
  await stage.fetchBehind();
}

begin();
