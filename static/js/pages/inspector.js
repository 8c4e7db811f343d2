/**
 * The inspector's page: bytes are pasted, linked, or those of a record of a timeline; the server lists, guesses,
 * edits and compares them, this file shows its answers.
 *
 * @import {Guess, Inspected} from '../bytes/types'
 * @import {Place} from '../bytes/tree.js'
 */

import { ask, submit } from '../shared/api.js';
import { Asking } from '../bytes/asking.js';
import { Comparison } from '../bytes/comparison.js';
import { copyPair, copySheet } from '../bytes/copying.js';
import { edited, fromBase64, toHex } from '../bytes/edits.js';
import { LINK_BYTES_MOST, linkedIn } from '../bytes/link.js';
import { Looking } from '../bytes/looking.js';
import { arrange, fragment, showWhere } from '../bytes/open.js';
import { BytesPane } from '../bytes/pane.js';
import { guessing } from '../bytes/paste.js';
import { OpenRecord, pressPart } from '../bytes/record.js';
import { asVersion, pairOf, Sheet } from '../bytes/sheet.js';
import { titlePair, titleSheet } from '../bytes/title.js';
import { wireTyping } from '../bytes/typing.js';
import { choose, h, hit, part } from '../shared/dom.js';
import { listen } from '../shared/keys.js';
import { isWithin } from '../shared/text-size.js';
import { toast } from '../shared/toast.js';
import { copy } from '../shared/url.js';
import { messageOf } from '../shared/errors.js';
import { grouped } from '../shared/numbers.js';

/** The page's text before there are bytes. */
const ONE = part('says').textContent ?? '';
const TWO = 'Paste two: their fields are matched by name, and those that differ are marked.';
/** Hex of more bytes is not put back into the field they were pasted into. */
const PASTED_MOST = 4096;

const text = /** @type {HTMLTextAreaElement} */ (part('text'));
const second = /** @type {HTMLTextAreaElement} */ (part('second'));
const asking = new Asking({
  line: part('guess'),
  fields: [text, second],
  bytesMost: Number(part('ins').dataset.bytesMost),
});
/** On a phone half as many bytes stand in a row. */
const PHONE_PX = 720;
const columns = () => (isWithin(PHONE_PX) ? 8 : 16);

/** @type {Sheet | null} */
let sheet = null;
/** @type {OpenRecord | null} */
let record = null;
/** @type {'one' | 'compare'} */
let mode = 'one';
/** What is compared. @type {import('../bytes/sheet.js').Side[]} */
let pair = [];
/** What is being opened: a comparison is with that. @type {Promise<void>} */
let opening = Promise.resolve();

const pane = new BytesPane({
  fields: part('fields'),
  hex: part('hex'),
  foot: part('lies'),
  columns,
  onSelect: () => looking.show(sheet),
  onEdit,
  onLeave: () => text.focus(),
});
const looking = new Looking({ root: part('clients'), pane });
const comparison = new Comparison({ root: part('two'), hexes: part('pair'), foot: part('lies'), columns });

// -- asking

/** @param {{[name: string]: any}} body @param {string} source */
function open(body, source) {
  opening = openAnswer(body, source);
  return opening;
}

/** @param {{[name: string]: any}} body @param {string} source */
async function openAnswer(body, source) {
  /** @type {Inspected | null} */
  const answer = await asking.ask('/api/inspect', body);
  if (!answer) return;
  record = null;
  sheet = new Sheet(answer, source);
  show();
  follow();
}

/** Typed or pasted. */
function typed() {
  text.classList.toggle('tall', text.value.length > 200 || text.value.includes('\n'));
  second.classList.toggle('tall', second.value.length > 200 || second.value.includes('\n'));
  if (mode === 'compare') return compareTyped();
  if (!text.value.trim()) {
    asking.forget();
    asking.say([]);
    return undefined;
  }
  if (asking.isTooLong(text.value)) return undefined;
  return open({ text: text.value }, 'Pasted');
}

/** @param {Guess} guess */
async function chooseKind(guess) {
  if (!sheet) return;
  const answer = await asking.ask('/api/inspect', {
    bytes: sheet.current.bytes,
    kind: guess.kind,
    version: asVersion(guess),
  });
  if (!answer || !sheet) return;
  const kept = { ...answer, guesses: sheet.current.guesses, how: sheet.current.how };
  sheet = new Sheet(kept, sheet.source);
  if (record) record.sheets[record.part] = sheet;
  show();
  follow();
}

/** @param {Place} place @param {string | null} wanted @returns {Promise<string | null>} what is wrong */
async function onEdit(place, wanted) {
  if (!sheet) return null;
  const { current } = sheet;
  const made = wanted === null ? { value: null } : edited(place.node, wanted);
  if ('wrong' in made) return made.wrong;
  /** @type {Inspected} */
  let answer;
  try {
    answer = await submit('/api/inspect', 'POST', {
      bytes: current.bytes,
      kind: current.kind,
      version: asVersion(current),
      guess: false,
      timeline: record?.found.timeline,
      edits: [{ path: place.path, value: made.value }],
    });
  } catch (error) {
    return messageOf(error, 'This cannot be written.');
  }
  sheet.take(answer, place.path);
  show({ select: place.path, open: pane.grid.open });
  part('fields').focus({ preventScroll: true });
  follow();
  return null;
}

function undo() {
  if (!sheet?.undo()) return;
  show({ select: pane.selected?.path ?? null, open: pane.grid.open });
  if (part('undo').hidden) part('fields').focus({ preventScroll: true });
  follow();
}

// -- showing one

/** @param {string} hint in the place of a sentence about bytes */
function say(hint) {
  part('says').replaceChildren(h('span.quiet', hint));
  part('basis').textContent = '';
}

/** Back to the beginning: nothing is open. */
function close() {
  asking.forget();
  asking.say([]);
  mode = 'one';
  sheet = null;
  record = null;
  text.value = '';
  looking.show(null);
  say(ONE);
  arrange(nowOpen());
  showWhere(nowOpen());
}

/** @param {{select?: string | null, open?: Set<string>}} [how] */
function show({ select = null, open: opened } = {}) {
  if (!sheet) return;
  const { current, original, paths } = sheet;
  arrange(nowOpen());
  pane.show(current, {
    before: sheet.isEdited ? original : null,
    select: select ?? current.problem?.path ?? null,
    open: opened,
    edited: paths,
  });
  titleSheet(sheet);
  asking.say(guessing(current, sheet.source === 'Pasted' ? '' : sheet.source, chooseKind));
  showWhere(nowOpen());
  looking.show(mode === 'one' ? sheet : null);
}

/** What the parts of the page are arranged by. */
const nowOpen = () => ({ mode, sheet, record, pair });

// -- comparing

/** @param {'one' | 'compare'} wanted */
async function setMode(wanted) {
  await opening;
  // Two that are compared stay, also where the button is pressed that is pressed.
  if (mode === wanted && part('two').childElementCount) return undefined;
  mode = wanted;
  if (mode === 'one') {
    text.value = '';
    text.classList.remove('tall');
    part('two').replaceChildren();
    if (!sheet) return pair.length ? open(pair[0].body, 'From the link') : close();
    if (record) pressPart(part('part'), record.part, record.sheets);
    show({ select: pane.selected?.path ?? null, open: pane.selected ? pane.grid.open : undefined });
    follow();
    return undefined;
  }
  pair = pairOf(sheet, pane);
  [text, second].forEach((field, at) => {
    field.value = pair[at]?.body.bytes ? toHex(fromBase64(pair[at].body.bytes).subarray(0, PASTED_MOST)) : '';
    field.classList.remove('tall');
  });
  say(pair.length === 1 ? 'What was open is the first: paste what to compare it with.' : TWO);
  part('basis').textContent = '';
  asking.say([]);
  arrange(nowOpen());
  showWhere(nowOpen());
  if (pair.length === 2) await compare();
  else (pair.length ? second : text).focus();
  return undefined;
}

async function compareTyped() {
  if (!text.value.trim() || !second.value.trim())
    return asking.say([`The ${text.value.trim() ? 'second' : 'first'} is missing.`]);
  if (asking.isTooLong(text.value) || asking.isTooLong(second.value)) return undefined;
  pair = [text, second].map((field, at) => ({ name: ['first', 'second'][at], body: { text: field.value } }));
  return compare();
}

async function compare() {
  const [first, other] = pair.map(({ name, body, entry }) => ({
    ...(entry === undefined ? { ...body, name } : { entry }),
    timeline: record?.found.timeline,
  }));
  /** @type {import('../bytes/types').Compared | null} */
  const answer = await asking.ask('/api/inspect/compare', { first, second: other });
  if (!answer) return;
  comparison.show(answer, [pair[0].name, pair[1].name]);
  arrange(nowOpen());
  titlePair(answer);
  asking.say([]);
  pair.forEach((side, at) => {
    const of = at ? answer.second : answer.first;
    side.body = { bytes: of.bytes, kind: of.kind, version: asVersion(of) };
    if (side.entry !== undefined) [text, second][at].value = toHex(fromBase64(of.bytes).subarray(0, PASTED_MOST));
  });
  showWhere(nowOpen());
  follow();
}

// -- the address, and copying

/**
 * A record keeps its own address; bytes stand in the address where they fit. What is opened first is a step of its own,
 * from which Back leads to the examples.
 */
function follow() {
  const address = `${location.pathname}${record && mode === 'one' ? record.search : (fragment(nowOpen()) ?? '')}`;
  const first = !location.search && !location.hash && address !== location.pathname;
  history[first ? 'pushState' : 'replaceState'](null, '', address);
}

async function copyLink() {
  if (!sheet && mode === 'one') return;
  const carried = record && mode === 'one' && !sheet?.isEdited ? record.search : fragment(nowOpen());
  if (carried === null) {
    toast(`Too large for a link, which carries ${grouped(LINK_BYTES_MOST)} bytes at most. Copy as hex in its place.`);
    return;
  }
  const href = `${location.origin}${location.pathname}${carried}`;
  toast((await copy(href)) ? 'Link copied' : href);
}

/** @param {'json' | 'hex'} form */
function copyAs(form) {
  if (mode === 'compare') return copyPair(form, pair);
  return sheet ? copySheet(form, sheet.current) : undefined;
}

// -- records of a timeline

/** @param {'key' | 'value'} which */
function showPart(which) {
  if (!record?.sheets[which]) return;
  record.part = which;
  pressPart(part('part'), record.part, record.sheets);
  sheet = record.sheet;
  show();
}

/** @param {string} timeline @param {string} entry @param {string | null} against an earlier one, to compare it with */
async function openRecord(timeline, entry, against) {
  asking.say(['Reading the record…']);
  try {
    record = new OpenRecord(
      await ask(`/api/timelines/${encodeURIComponent(timeline)}/entries/${encodeURIComponent(entry)}/bytes`),
    );
    sheet = record.sheet;
    const earlier = /^\d{1,15}$/.test(against ?? '') ? Number(against) : null;
    if (earlier === null) {
      mode = 'one';
      showPart(record.part);
      return;
    }
    mode = 'compare';
    pair = [earlier, record.found.sequence].map((number) => ({ name: `entry ${number}`, body: {}, entry: number }));
    arrange(nowOpen());
    await compare();
  } catch (error) {
    asking.refuse(messageOf(error, 'This record could not be read.'));
    text.removeAttribute('aria-invalid');
    arrange(nowOpen());
  }
}

/** What the address asks for. */
async function begin() {
  const linked = linkedIn(location.hash);
  const query = new URLSearchParams(location.search);
  const timeline = query.get('timeline');
  const entry = query.get('entry');
  if (linked.length === 2) {
    mode = 'compare';
    pair = linked.map(({ kind, version, bytes }, at) => ({
      name: ['first', 'second'][at],
      body: { bytes, kind: kind || undefined, version: version ?? undefined },
    }));
    [text, second].forEach((field, at) => {
      field.value = toHex(fromBase64(linked[at].bytes));
    });
    arrange(nowOpen());
    await compare();
  } else if (linked.length === 1) {
    mode = 'one';
    const [{ kind, version, bytes }] = linked;
    await open({ bytes, kind: kind || undefined, version: version ?? undefined }, 'From the link');
  } else if (timeline !== null && entry !== null) await openRecord(timeline, entry, query.get('against'));
  else close();
}

function wire() {
  wireTyping([text, second], {
    read: typed,
    onEnter: () => {
      if (mode === 'one') part('fields').focus({ preventScroll: true });
    },
  });
  part('start').addEventListener('click', (event) => {
    const example = hit(event, 'button.example');
    if (example)
      open({ text: example.dataset.hex, kind: example.dataset.kind }, 'Example').then(() =>
        part('fields').focus({ preventScroll: true }),
      );
  });
  part('example-two').addEventListener('click', async () => {
    mode = 'one';
    const { hex, kind } = /** @type {HTMLElement} */ (part('start').querySelector('button.example')).dataset;
    await open({ text: hex, kind }, 'Example');
    setMode('compare');
  });
  part('says').addEventListener('click', (event) => {
    const clause = hit(event, '[data-path]');
    if (!clause) return;
    event.preventDefault();
    if (mode === 'compare') comparison.choose(clause.dataset.path ?? '');
    else pane.choose(clause.dataset.path ?? '');
  });
  choose('mode', (value) => setMode(/** @type {'one' | 'compare'} */ (value)));
  choose('part', (value) => showPart(/** @type {'key' | 'value'} */ (value)));
  part('undo').addEventListener('click', undo);
  part('copy-json').addEventListener('click', () => copyAs('json'));
  part('copy-hex').addEventListener('click', () => copyAs('hex'));
  part('copy-link').addEventListener('click', copyLink);
  addEventListener('hashchange', begin);
  listen({
    h: () => part(mode === 'one' ? 'hex' : 'pair').focus(),
    f: () => part('fields').focus(),
    '/': () => text.focus(),
    c: copyLink,
    y: () => {
      if (mode === 'one') pane.copyValue();
    },
    u: undo,
  });
}

wire();
begin().finally(() => {
  document.documentElement.dataset.alive = 'true';
});
