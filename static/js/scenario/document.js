/**
 * A scenario's text as members, topics and events, and edits of it. An edit keeps the comments and the order, and leaves each part
 * of the text that it does not touch as it was written, letter for letter.
 *
 * @typedef {import('./places.js').Place} Place
 * @typedef {(string | number)[]} Path keys and places in lists, from the root
 * @typedef {{[name: string]: unknown}} Mapping
 * @typedef {{name: string, keys: Mapping}} Named a member or a topic
 * @typedef {{place: number, verb: string, who: string[], at_ms: number, keys: Mapping}} Event a line of the script, by its place there
 * @typedef {{members: Named[], topics: Named[], events: Event[], until_ms: number, others: Path[]}} Sketch `others`: what is in
 *   the text alone
 * @typedef {any} Document of `yaml`, whose types are too narrow for a change
 */

import { isMap, isScalar, isSeq, parseDocument } from '../../vendor/editor.min.js';
import { placeUnder } from './places.js';

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** As long as a run goes on after the last line of its script, where the text has no `until`. */
const TAIL_MS = 60_000;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export const BEGINNING = `name: my scenario
topics:
  orders: {partitions: 6}
members:
  A: {subscribe: [orders]}
  B: {subscribe: [orders]}
script:
  - {at: 0s, join: [A, B]}
until: 60s
`;

/** Milliseconds of `1.5s` or `2m`; null: it is none. @param {unknown} text */
export function milliseconds(text) {
  if (text === 0 || text === '0') return 0;
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(String(text)) ?? [];
  return unit ? Math.round(Number(number) * UNITS_MS[/** @type {keyof typeof UNITS_MS} */ (unit)]) : null;
}

/** As a scenario has it: `1.5s`. @param {number} ms */
export const duration = (ms) => `${ms / 1000}s`;

/** @param {unknown} value @returns {Mapping} */
const mapping = (value) =>
  value && typeof value === 'object' && !Array.isArray(value) ? /** @type {Mapping} */ (value) : {};

/** @param {unknown} value @returns {string[]} */
export const listed = (value) => (value === null || value === undefined ? [] : [value].flat().map(String));

/** The text as a document; null where it is none that could be changed. @param {string} text @returns {Document | null} */
function documentOf(text) {
  const document = parseDocument(text);
  return document.errors.length || (document.contents && !isMap(document.contents)) ? null : document;
}

/** What can be drawn of a text; null where it is no YAML, or no mapping. @param {string} text @param {Place} vocabulary @returns {Sketch | null} */
export function sketchOf(text, vocabulary) {
  const document = documentOf(text);
  if (!document) return null;
  /** @type {Mapping} */
  let all;
  try {
    all = mapping(document.toJS());
  } catch {
    return null; // An alias of nothing, or one that grows without end.
  }
  const named = (/** @type {string} */ key) =>
    Object.entries(mapping(all[key])).map(([name, keys]) => ({ name, keys: mapping(keys) }));
  /** @type {Path[]} */
  const others = Object.keys(all)
    .filter((key) => !['name', 'title', 'members', 'topics', 'script', 'until'].includes(key))
    .map((key) => [key]);
  const verbs = vocabulary.keys?.script?.verbs ?? {};
  /** @type {Event[]} */
  const events = [];
  for (const [place, line] of (Array.isArray(all.script) ? all.script : []).entries()) {
    const keys = mapping(line);
    const verb = Object.keys(keys).find((key) => verbs[key]);
    const at_ms = milliseconds(keys.at);
    if (verb && at_ms !== null)
      events.push({ place, verb, who: verbs[verb].who.keys ? [] : listed(keys[verb]), at_ms, keys });
    else others.push(['script', place]);
  }
  const last_ms = Math.max(0, ...events.map(({ at_ms }) => at_ms));
  return {
    members: named('members'),
    topics: named('topics'),
    events,
    until_ms: Math.max(last_ms, milliseconds(all.until) || last_ms + TAIL_MS),
    others,
  };
}

/** The line of the text that has this. @param {string} text @param {Path} path */
export function lineOf(text, path) {
  const node = /** @type {any} */ (documentOf(text)?.getIn(path, true));
  return text.slice(0, node?.range?.[0] ?? 0).split('\n').length;
}

/** The keys at the margin, where each part begins and ends, and how it would be written. @param {Document} document @param {object} style */
function parts(document, style) {
  let end = 0;
  return /** @type {any[]} */ (document.contents?.items ?? []).map((pair, at) => {
    const alone = /** @type {Document} */ (parseDocument(''));
    alone.contents = alone.createNode({});
    alone.contents.items.push(pair);
    const from = at ? end : (pair.key.range?.[0] ?? 0);
    end = pair.value?.range?.[2] ?? pair.key.range?.[2] ?? end;
    const written = alone.toString(style);
    // A comment at the head is before the first part.
    return { pair, from, end, written: at ? written : written.replace(/^(?:[ \t]*(?:#.*)?\n)+/, '') };
  });
}

/** The lines of a part: those between the first and the last that changed are new. @param {string} source @param {string} before @param {string} after */
function rewritten(source, before, after) {
  if (before === after) return source;
  const [own, old, lines] = [source, before, after].map((text) => text.replace(/^\n+/, '').split('\n'));
  const [blank] = /** @type {RegExpExecArray} */ (/^\n*/.exec(source));
  if (own.length !== old.length) return blank + lines.join('\n');
  const most = Math.min(old.length, lines.length);
  let head = 0;
  while (head < most && old[head] === lines[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === lines.at(-1 - tail)) tail += 1;
  const kept = [...own.slice(0, head), ...lines.slice(head, lines.length - tail), ...own.slice(own.length - tail)];
  return blank + kept.join('\n');
}

/**
 * The text after a change of its document; each part that is written as before keeps its own letters.
 *
 * @param {string} text @param {(document: Document) => void} change @returns {string}
 */
export function edited(text, change) {
  const document = documentOf(text);
  if (!document) return text;
  const style = { lineWidth: 0, flowCollectionPadding: false, indentSeq: !/^- /m.test(text) };
  if (document.contents?.flow) {
    change(document);
    return document.toString(style);
  }
  const before = parts(document, style);
  change(document);
  const after = parts(document, style);
  let written = text.slice(0, before[0]?.from ?? text.length);
  for (const part of after) {
    const old = before.find(({ pair }) => pair === part.pair);
    if (written && !written.endsWith('\n')) written += '\n';
    written += old ? rewritten(text.slice(old.from, old.end), old.written, part.written) : part.written;
  }
  return written + text.slice(before.at(-1)?.end ?? text.length);
}

/** Writes a value at a path, or takes what is there away: without a value. @param {string} text @param {Path} path @param {unknown} value */
export const put = (text, path, value) =>
  edited(text, (document) => {
    if (value === undefined) document.deleteIn(path);
    else if (value && typeof value === 'object') document.setIn(path, document.createNode(value, { flow: true }));
    else document.setIn(path, value);
  });

/** A key of the root that has a block of lines. @param {Document} document @param {string} key @param {'members' | 'topics' | 'script'} key */
function blockOf(document, key) {
  const node = document.get(key, true);
  if (!isMap(node) && !isSeq(node)) document.set(key, document.createNode(key === 'script' ? [] : {}));
  const block = document.get(key, true);
  if (!block.items.length) block.flow = false;
  return block;
}

/** The first name that is free. @param {Named[]} named @param {Iterable<string>} names */
const free = (named, names) => [...names].find((name) => !named.some((other) => other.name === name)) ?? '';

/** @param {Document} document @param {{[verb: string]: unknown, at: string}} line before the first that is later */
function insert(document, line) {
  const { items } = blockOf(document, 'script');
  const later = items.findIndex(
    (/** @type {any} */ item) => Number(milliseconds(item.get?.('at'))) > Number(milliseconds(line.at)),
  );
  const place = later < 0 ? items.length : later;
  items.splice(place, 0, document.createNode(line, { flow: true }));
  return place;
}

/** An event more, and its place in the script. @param {string} text @param {string} verb @param {unknown} who @param {number} at_ms */
export function withEvent(text, verb, who, at_ms) {
  let place = 0;
  const written = edited(text, (document) => {
    place = insert(document, { at: duration(at_ms), [verb]: who });
  });
  return { text: written, place };
}

/** A topic more. @param {string} text @param {Sketch} sketch */
export function withTopic(text, { topics }) {
  const name = free(topics, ['orders', ...topics.map((_, at) => `topic-${at + 2}`)]);
  return { text: edited(text, (document) => addTopic(document, name)), name };
}

/** @param {Document} document @param {string} name */
const addTopic = (document, name) =>
  blockOf(document, 'topics').set(name, document.createNode({ partitions: 6 }, { flow: true }));

/** A member more, which reads every topic and joins at once. @param {string} text @param {Sketch} sketch */
export function withMember(text, { members, topics }) {
  const name = free(members, [...LETTERS, ...members.map((_, at) => `member-${at + 1}`)]);
  const read = topics.length ? topics.map((topic) => topic.name) : ['orders'];
  const written = edited(text, (document) => {
    if (!topics.length) addTopic(document, 'orders');
    blockOf(document, 'members').set(name, document.createNode({ subscribe: read }, { flow: true }));
    insert(document, { at: '0s', join: name });
  });
  return { text: written, name };
}

/**
 * Another name of a member or a topic, wherever the text has it; without one it is gone, and what happens to it alone.
 *
 * @param {string} text @param {'members' | 'topics'} kind @param {string} from @param {string | undefined} to @param {Place} vocabulary
 */
export function renamed(text, kind, from, to, vocabulary) {
  const names = (/** @type {Place | undefined} */ place) => place?.names?.includes(kind);
  /** Whether anything is left of it. @param {any} node @param {Place | undefined} place @returns {boolean} */
  const walk = (node, place) => {
    if (isScalar(node)) {
      const found = names(place) && node.value === from;
      if (found && to !== undefined) node.value = to;
      return !found || to !== undefined;
    }
    const had = node?.items?.length;
    if (isSeq(node)) node.items = node.items.filter((/** @type {any} */ item) => walk(item, place));
    else if (/** @type {boolean} */ (isMap(node))) {
      const keys = node.items.map((/** @type {any} */ { key }) => key?.value);
      for (const pair of node.items) {
        const key = pair.key?.value;
        const left = walk(pair.value, placeUnder(place, key, keys));
        // An event that nobody is left for is gone; a member without a topic is shown as a mistake.
        if (!left && place?.verbs) return false;
        if (key === from && names(place) && to !== undefined) pair.key.value = to;
      }
    }
    return !had || node.items.length > 0 || !names(place);
  };
  return edited(text, (document) => {
    walk(document.contents, vocabulary);
    const pair = document.get(kind, true)?.items.find((/** @type {any} */ { key }) => key.value === from);
    if (to === undefined) document.deleteIn([kind, from]);
    else if (pair) pair.key.value = to;
  });
}
