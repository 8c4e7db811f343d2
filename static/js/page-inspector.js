/**
 * The inspector's page: bytes are pasted, linked, or those of a record of a timeline; the server lists, guesses,
 * edits and compares them, this file shows its answers.
 *
 * @typedef {import('./bytes/types').Inspected} Inspected
 * @typedef {import('./bytes/types').Guess} Guess
 * @typedef {import('./bytes/types').RecordBytes} RecordBytes
 * @typedef {import('./bytes/tree.js').Place} Place
 */

import { ask, tell } from './api.js';
import { Clients } from './bytes/clients.js';
import { Comparison } from './bytes/comparison.js';
import { edited, fromBase64, History, toBase64, toHex } from './bytes/edits.js';
import { fragmentOf, LINK_BYTES_MOST, linkedIn } from './bytes/link.js';
import { BytesPane } from './bytes/pane.js';
import { guessing, sentence, titleOfTwo } from './bytes/paste.js';
import { FieldTree, isBlob, jsonOf } from './bytes/tree.js';
import { counted, nameOf } from './bytes/words.js';
import { choose, part } from './dom.js';
import { listen } from './keys.js';
import { toast } from './toast.js';
import { copy } from './url.js';

/** While somebody types, nothing is asked for. */
const PAUSE_MS = 150;
/** An answer that takes longer is waited for in words. */
const SLOW_MS = 400;
/** Letters that one byte takes in the longest form that is read: a hex dump with offsets and letters beside it. */
const LETTERS_A_BYTE = 5;
/** Hex of more bytes is not put back into the field they were pasted into. */
const PASTED_MOST = 4096;

/**
 * Bytes that are open: as they came, as they are now, and the way back.
 *
 * @typedef {{original: Inspected, current: Inspected, history: History<{current: Inspected, paths: Set<string>}>, paths: Set<string>, source: string}} Sheet
 */

const text = /** @type {HTMLTextAreaElement} */ (part('text'));
const second = /** @type {HTMLTextAreaElement} */ (part('second'));
const bytesMost = Number(part('ins').dataset.bytesMost);
const narrow = matchMedia('(max-width: 720px)');
const columns = () => (narrow.matches ? 8 : 16);

/** @type {Sheet | null} */
let sheet = null;
/** @type {RecordBytes | null} */
let record = null;
/** @type {{key: Sheet | null, value: Sheet | null}} */
const parts = { key: null, value: null };
/** @type {'one' | 'compare'} */
let mode = 'one';
/** What is compared: `text` as it was typed, or bytes with their name. @type {{name: string, body: {[name: string]: any}}[]} */
let pair = [];
/** Answers that were asked for before this one are too late. */
let asked = 0;

const pane = new BytesPane({
  fields: part('fields'), hex: part('hex'), foot: part('lies'), columns,
  onSelect: () => showClients(),
  onEdit,
  onLeave: () => text.focus(),
});
const clients = new Clients({
  root: part('clients'),
  onChoose: (seen) => {
    const blob = blobLookedAt();
    pane.strike(seen && blob ? [blob.from + seen.read, blob.to] : null);
  },
});
const comparison = new Comparison({ root: part('two'), hexes: part('pair'), foot: part('lies'), columns });

/** Answers about the blob that is looked at, by its bytes. @type {Map<string, Promise<Inspected>>} */
const blobs = new Map();

// -- asking

/**
 * @param {string} url
 * @param {{[name: string]: any}} body
 * @returns {Promise<any>} null where a later question has been asked meanwhile, or none could be answered
 */
async function question(url, body) {
  asked += 1;
  const mine = asked;
  const slow = setTimeout(() => sayHow(['Reading…']), SLOW_MS);
  try {
    const answer = await tell(url, 'POST', body);
    return mine === asked ? answer : null;
  } catch (error) {
    if (mine === asked) refuse(error instanceof Error ? error.message : 'This could not be read.');
    return null;
  } finally {
    clearTimeout(slow);
  }
}

/** @param {(Node | string)[]} says */
function sayHow(says) {
  part('guess').classList.remove('no');
  part('guess').replaceChildren(...says);
  for (const field of [text, second]) field.removeAttribute('aria-invalid');
}

/** One line that says what is wrong; what was open stays. @param {string} says */
function refuse(says) {
  part('guess').classList.add('no');
  part('guess').textContent = says;
  (document.activeElement === second ? second : text).setAttribute('aria-invalid', 'true');
}

/** @param {string} typed @returns {boolean} */
function isTooLong(typed) {
  if (typed.length <= bytesMost * LETTERS_A_BYTE) return false;
  asked += 1;
  refuse(`These are more than ${bytesMost.toLocaleString('en')} bytes, which is as much as the inspector takes at once. The command manage.py decode takes more.`);
  return true;
}

/** @param {{[name: string]: any}} body @param {string} source */
async function open(body, source) {
  /** @type {Inspected | null} */
  const answer = await question('/api/inspect', body);
  if (!answer) return;
  leaveRecord();
  sheet = sheetOf(answer, source);
  show();
  follow();
}

/** @param {Inspected} answer @param {string} source @returns {Sheet} */
const sheetOf = (answer, source) => ({ original: answer, current: answer, history: new History(), paths: new Set(), source });

/** Typed or pasted. */
function typed() {
  text.classList.toggle('tall', text.value.length > 200 || text.value.includes('\n'));
  second.classList.toggle('tall', second.value.length > 200 || second.value.includes('\n'));
  if (mode === 'compare') return compareTyped();
  if (!text.value.trim()) {
    asked += 1;
    sayHow([]);
    return undefined;
  }
  if (isTooLong(text.value)) return undefined;
  return open({ text: text.value }, 'Pasted');
}

/** @param {Guess} guess */
async function chooseKind(guess) {
  if (!sheet) return;
  const answer = await question('/api/inspect', { bytes: sheet.current.bytes, kind: guess.kind, version: asVersion(guess) });
  if (!answer || !sheet) return;
  const kept = { ...answer, guesses: sheet.current.guesses, how: sheet.current.how };
  sheet = sheetOf(kept, sheet.source);
  if (record) parts[partShown()] = sheet;
  show();
  follow();
}

/** Kinds that tell their own version are read as they say. @param {{kind: string, version: number | null}} of */
const asVersion = ({ kind, version }) => (/-(request|response)$/.test(kind) && version !== null ? version : undefined);

/** @param {Place} place @param {string | null} typed @returns {Promise<string | null>} what is wrong */
async function onEdit(place, typed) {
  if (!sheet) return null;
  const { current } = sheet;
  const made = typed === null ? { value: null } : edited(place.node, typed);
  if ('wrong' in made) return made.wrong;
  /** @type {Inspected} */
  let answer;
  try {
    answer = await tell('/api/inspect', 'POST', {
      bytes: current.bytes, kind: current.kind, version: asVersion(current), guess: false, edits: [{ path: place.path, value: made.value }],
    });
  } catch (error) {
    return error instanceof Error ? error.message : 'This cannot be written.';
  }
  if (answer.bytes !== current.bytes) {
    sheet.history.push({ current, paths: sheet.paths });
    sheet.paths = new Set([...sheet.paths, place.path]);
    sheet.current = { ...answer, guesses: current.guesses, how: current.how };
  }
  show({ select: place.path, open: pane.grid.open });
  part('fields').focus({ preventScroll: true });
  follow();
  return null;
}

function undo() {
  const past = sheet?.history.pop();
  if (!sheet || !past) return;
  sheet.current = past.current;
  sheet.paths = past.paths;
  show({ select: pane.selected?.path ?? null, open: pane.grid.open });
  if (part('undo').hidden) part('fields').focus({ preventScroll: true });
  follow();
}

// -- showing one

/** @param {{select?: string | null, open?: Set<string>}} [how] */
function show({ select = null, open: opened } = {}) {
  if (!sheet) return;
  const { current, original, paths, history } = sheet;
  arrange();
  pane.show(current, { before: current === original ? null : original, select: select ?? current.problem?.path ?? null, open: opened, edited: paths });
  part('title').textContent = current.title;
  part('subtitle').textContent = current.version === null ? '' : `version ${current.version}`;
  part('size').textContent = counted(current.length, 'byte');
  part('undo').hidden = history.length === 0;
  part('undo').textContent = history.length > 1 ? `Undo edit (${history.length})` : 'Undo edit';
  part('says').replaceChildren(...sentence(current.says));
  part('basis').textContent = basisOf(current);
  part('basis').classList.toggle('problem', current.problem !== null);
  sayHow(guessing(current, sheet.source === 'Pasted' ? '' : sheet.source, chooseKind));
  showWhere();
  showClients();
}

/** @param {Inspected} current */
function basisOf({ problem, length, read }) {
  if (problem) return problem.offset === null || problem.offset === undefined ? 'Cannot be read' : `Stops at byte ${problem.offset}`;
  return read < length ? `${counted(length - read, 'byte')} left over` : 'Read to the last byte';
}

function showWhere() {
  const crumb = mode === 'compare' ? 'Two compared' : record ? record.title : sheet?.current.title ?? '';
  part('crumb').textContent = crumb;
  part('crumb-slash').hidden = !crumb;
  document.title = `${crumb ? `${crumb} · ` : ''}Inspector · Rebalance Explorer`;
  part('from').hidden = !sheet;
  part('from').textContent = record ? record.place : sheet?.source ?? '';
  const link = /** @type {HTMLAnchorElement} */ (part('board-link'));
  link.hidden = !record;
  if (record) link.href = `/t/${encodeURIComponent(record.timeline)}?at=${record.sequence}`;
  part('part').hidden = !record || mode === 'compare';
}

/** Which parts of the page there are. */
function arrange() {
  const comparing = mode === 'compare';
  const ready = comparing ? part('two').childElementCount > 0 : sheet !== null;
  part('start').hidden = ready || comparing;
  part('tree').hidden = !ready;
  part('side').hidden = !ready;
  for (const id of ['one', 'hexes']) part(id).hidden = comparing;
  for (const id of ['two', 'pair', 'second', 'second-label']) part(id).hidden = !comparing;
  part('text-label').textContent = comparing ? 'First' : 'Bytes';
  if (comparing) part('clients').hidden = true;
  for (const id of ['copy-json', 'copy-hex', 'copy-link']) /** @type {HTMLButtonElement} */ (part(id)).disabled = !ready;
  for (const button of part('mode').querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.dataset.value === mode));
}

/** The subscription around what is selected, or the first there is; the whole where it is one itself. */
function blobLookedAt() {
  if (!sheet) return null;
  const { current } = sheet;
  if (current.clients.length) return { from: 0, to: current.length, place: null };
  let place = pane.selected;
  while (place && !isSubscription(place)) place = place.parent;
  if (!place) for (const found of pane.tree.all()) if (isSubscription(found)) { place = found; break; }
  return place?.lies ? { from: place.node.offset + (place.node.prefix ?? 0), to: place.end, place } : null;
}

/** @param {Place} place */
const isSubscription = (place) => isBlob(place.node) && place.node.kind === 'subscription';

async function showClients() {
  const blob = mode === 'one' ? blobLookedAt() : null;
  if (!blob || !sheet) {
    clients.show(null);
    return;
  }
  if (!blob.place) {
    clients.show(sheet.current);
    return;
  }
  const bytes = toBase64(pane.bytes.subarray(blob.from, blob.to));
  const of = blob.place.parent ? nameOf(blob.place.parent.node) : '';
  const known = blobs.get(bytes) ?? tell('/api/inspect', 'POST', { bytes, kind: 'subscription', guess: false });
  blobs.set(bytes, known);
  try {
    const answer = await known;
    const now = blobLookedAt();
    if (now?.from === blob.from && now.to === blob.to && mode === 'one') clients.show(answer, of);
  } catch {
    blobs.delete(bytes);
    clients.show(null);
  }
}

// -- comparing

/** @param {'one' | 'compare'} wanted */
async function setMode(wanted) {
  mode = wanted;
  if (mode === 'one') {
    text.value = '';
    text.classList.remove('tall');
    part('two').replaceChildren();
    if (sheet) show({ select: pane.selected?.path ?? null, open: pane.grid.open });
    else sayHow([]);
    arrange();
    showWhere();
    return;
  }
  pair = pairOf();
  [text, second].forEach((field, at) => {
    field.value = pair[at]?.body.bytes ? toHex(fromBase64(pair[at].body.bytes).subarray(0, PASTED_MOST)) : '';
    field.classList.remove('tall');
  });
  part('says').textContent = 'Two subscriptions, two values of a record, before and after an edit: fields are matched by name.';
  part('basis').textContent = '';
  sayHow([pair.length < 2 ? 'Paste what to compare.' : '']);
  arrange();
  showWhere();
  if (pair.length === 2) await compare();
  else (pair.length ? second : text).focus();
}

/** What one would compare: before and after the edits, or two members' blobs of a kind, or what is open with what comes. */
function pairOf() {
  if (!sheet) return [];
  const { current, original } = sheet;
  const whole = (/** @type {Inspected} */ of, /** @type {string} */ name) => ({ name, body: { bytes: of.bytes, kind: of.kind, version: asVersion(of) } });
  if (current !== original) return [whole(original, 'before'), whole(current, 'after')];
  let place = pane.selected;
  while (place && !isBlob(place.node)) place = place.parent;
  const alike = [...pane.tree.all()].filter((found) => isBlob(found.node) && found.node.kind === (place?.node.kind ?? 'subscription') && found.lies);
  if (alike.length < 2) return [whole(current, 'first')];
  const at = Math.max(0, place ? alike.indexOf(place) : 0);
  const chosen = [alike[at], alike[(at + 1) % alike.length]];
  return chosen.map((found, number) => ({
    name: (found.parent ? nameOf(found.parent.node) : '') || ['first', 'second'][number],
    body: { bytes: toBase64(pane.bytes.subarray(found.node.offset + (found.node.prefix ?? 0), found.end)), kind: /** @type {string} */ (found.node.kind) },
  }));
}

async function compareTyped() {
  if (!text.value.trim() || !second.value.trim()) return sayHow(['Paste what to compare.']);
  if (isTooLong(text.value) || isTooLong(second.value)) return undefined;
  pair = [text, second].map((field, at) => ({ name: ['first', 'second'][at], body: { text: field.value } }));
  return compare();
}

async function compare() {
  const [first, other] = pair.map(({ name, body }) => ({ ...body, name }));
  /** @type {import('./bytes/types').Compared | null} */
  const answer = await question('/api/inspect/compare', { first, second: other });
  if (!answer) return;
  comparison.show(answer, [pair[0].name, pair[1].name]);
  arrange();
  const differ = answer.rows.filter(({ same }) => !same).length;
  part('title').textContent = titleOfTwo(answer.first.title, answer.second.title);
  part('subtitle').textContent = `${differ} of ${counted(answer.rows.length, 'field')} differ`;
  part('undo').hidden = true;
  part('size').textContent = `${answer.first.length.toLocaleString('en')} and ${counted(answer.second.length, 'byte')}`;
  part('says').replaceChildren(...sentence(answer.says));
  sayHow([]);
  pair.forEach((side, at) => {
    const of = at ? answer.second : answer.first;
    side.body = { bytes: of.bytes, kind: of.kind, version: asVersion(of) };
  });
  showWhere();
  follow();
}

// -- the address, and copying

/** What the address would carry. */
function fragment() {
  if (mode === 'compare') return fragmentOf(pair.map(({ body }) => ({ kind: body.kind ?? '', version: body.version ?? null, bytes: body.bytes ?? '' })));
  if (!sheet) return '';
  const { kind, bytes } = sheet.current;
  return fragmentOf([{ kind, version: asVersion(sheet.current) ?? null, bytes }]);
}

/** A record keeps its own address; bytes stand in the address where they fit. */
function follow() {
  if (record && mode === 'one') return;
  history.replaceState(null, '', `${location.pathname}${fragment() ?? ''}`);
}

async function copyLink() {
  if (!sheet && mode === 'one') return;
  const edits = sheet !== null && sheet.current !== sheet.original;
  const carried = record && mode === 'one' && !edits ? location.search : fragment();
  if (carried === null) {
    toast(`Too large for a link, which carries ${LINK_BYTES_MOST.toLocaleString('en')} bytes at most. Copy as hex in its place.`);
    return;
  }
  const href = `${location.origin}${location.pathname}${carried}`;
  toast(await copy(href) ? 'Link copied' : href);
}

/** @param {'json' | 'hex'} form */
async function copyAs(form) {
  if (mode === 'compare') {
    const both = pair.map(({ body }) => toHex(fromBase64(body.bytes))).join('\n');
    toast(await copy(form === 'hex' ? both : JSON.stringify(pair.map(({ body }) => body), null, 2)) ? 'Both copied' : 'The clipboard did not take it');
    return;
  }
  if (!sheet) return;
  const says = form === 'hex' ? toHex(pane.bytes) : JSON.stringify(jsonOf(sheet.current.fields), null, 2);
  toast(await copy(says) ? `Copied as ${form === 'hex' ? 'hex' : 'JSON'}` : 'The clipboard did not take it');
}

// -- records of a timeline

/** @returns {'key' | 'value'} */
const partShown = () => (sheet !== null && sheet === parts.key ? 'key' : 'value');

/** @param {'key' | 'value'} which */
function showPart(which) {
  if (!parts[which]) return;
  sheet = parts[which];
  for (const button of part('part').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.dataset.value === which));
    button.disabled = parts[/** @type {'key' | 'value'} */ (button.dataset.value)] === null;
    button.title = button.disabled ? (button.dataset.value === 'value' ? 'A tombstone has no value' : 'This record has no key') : '';
  }
  show();
}

function leaveRecord() {
  record = null;
  parts.key = null;
  parts.value = null;
}

/** @param {string} timeline @param {string} entry */
async function openRecord(timeline, entry) {
  sayHow(['Reading the record…']);
  try {
    /** @type {RecordBytes} */
    const found = await ask(`/api/timelines/${encodeURIComponent(timeline)}/entries/${encodeURIComponent(entry)}/bytes`);
    record = found;
    parts.key = found.key && sheetOf(found.key, 'From the record');
    parts.value = found.value && sheetOf(found.value, 'From the record');
    showPart(found.value ? 'value' : 'key');
  } catch (error) {
    refuse(error instanceof Error ? error.message : 'This record could not be read.');
    part('start').hidden = false;
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
    pair = linked.map(({ kind, version, bytes }, at) => ({ name: ['first', 'second'][at], body: { bytes, kind: kind || undefined, version: version ?? undefined } }));
    [text, second].forEach((field, at) => { field.value = toHex(fromBase64(linked[at].bytes)); });
    arrange();
    await compare();
  } else if (linked.length === 1) {
    mode = 'one';
    const [{ kind, version, bytes }] = linked;
    await open({ bytes, kind: kind || undefined, version: version ?? undefined }, 'From the link');
  } else if (timeline !== null && entry !== null) await openRecord(timeline, entry);
  else arrange();
}

function wire() {
  let pause = /** @type {any} */ (null);
  for (const field of [text, second]) {
    field.addEventListener('input', () => {
      clearTimeout(pause);
      pause = setTimeout(typed, PAUSE_MS);
    });
    field.addEventListener('blur', () => { field.scrollTop = 0; });
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') field.blur();
      if (event.key === 'Enter' && !event.shiftKey) {
        event.preventDefault();
        clearTimeout(pause);
        typed();
        if (mode === 'one') part('fields').focus({ preventScroll: true });
      }
    });
  }
  part('start').addEventListener('click', (event) => {
    const example = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('button.example'));
    if (example) open({ text: example.dataset.hex, kind: example.dataset.kind }, 'Example').then(() => part('fields').focus({ preventScroll: true }));
  });
  part('says').addEventListener('click', (event) => {
    const clause = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('[data-path]'));
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
    u: undo,
  });
}

wire();
begin().finally(() => { document.documentElement.dataset.alive = 'true'; });
