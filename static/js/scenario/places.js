/**
 * Where in a scenario's text a cursor is, and what may come there. It is read mark by mark: who types has half a line, which no
 * parser takes.
 *
 * @typedef {{indent: number, list: boolean, key: string | null, keys: string[]}} Level a mapping or a list that is open, the key
 *   that the cursor is under, and all keys so far
 * @typedef {object} Cursor
 * @property {(string | null)[]} path keys from the root; null for an item of a list
 * @property {boolean} atKey whether a key may come next, rather than a value alone
 * @property {string[]} keys that the mapping around it has by then
 * @property {string} word what is typed of the key or the value
 *
 * @typedef {object} Place as `simulations/world/scenario/vocabulary.py` has it
 * @property {{[name: string]: Place}} [keys]
 * @property {Place} [any]
 * @property {string[]} [values]
 * @property {('members' | 'topics' | 'group')[]} [names]
 * @property {boolean} [many] a list of them, also of one
 * @property {{[verb: string]: {sentence: string, needs: string[], who: Place, keys: {[name: string]: Place}}}} [verbs]
 *
 * @typedef {{label: string, detail?: string, key: boolean}} Choice
 */

const FLOW = Infinity;
const TOKEN =
  /(?<comment>(?<=^|\s)#.*)|(?<dash>-(?=\s|$))|(?<key>"[^"]*"|'[^']*'|[^\s{}[\],"'#][^{}[\],:]*):(?=\s|$)|(?<mark>[{}[\],])|(?<word>"[^"]*"?|'[^']*'?|[^\s{}[\],]+)/g;

/** @param {string} text @param {number} [at] the cursor @returns {Cursor} */
export function cursorAt(text, at = text.length) {
  // What is before the last key at the margin does not matter.
  const [start] = [...text.slice(0, at).matchAll(/^[A-Za-z_]/gm)].map((match) => match.index).slice(-1);
  /** @type {Level[]} */
  const open = [];
  const top = () => open[open.length - 1];
  const inFlow = () => top()?.indent === FLOW;
  const begin = (/** @type {number} */ indent, list = false) => {
    if (indent !== FLOW) while (open.length && top().indent > indent) open.pop();
    if (indent === FLOW || top()?.indent !== indent) open.push({ indent, list, key: null, keys: [] });
  };
  let word = '';
  /** The column where a key may begin a line of a block; -1: not here. */
  let column = 0;
  for (const line of text.slice(start ?? 0, at).split('\n')) {
    const block = !inFlow();
    let dashes = true;
    word = '';
    column = block ? line.length : -1;
    for (const { index, groups = {}, 0: token } of line.matchAll(TOKEN)) {
      const { comment, dash, key, mark } = groups;
      if (dash && block && dashes) {
        // A list may begin in its key's own column.
        begin(index + 0.5, true);
        top().key = null;
        continue;
      }
      column = dashes && block && groups.word && index + token.length === line.length ? index : -1;
      dashes = false;
      word = groups.word && index + token.length === line.length ? token : '';
      if (comment) break;
      if (key !== undefined) {
        if (!inFlow()) begin(index);
        top().key = key.replace(/^["']|["']$/g, '');
        top().keys.push(/** @type {string} */ (top().key));
      } else if (mark === '{' || mark === '[') begin(FLOW, mark === '[');
      else if (inFlow() && (mark === '}' || mark === ']')) open.pop();
      else if (inFlow() && mark === ',' && !top().list) top().key = null;
    }
  }
  if (column >= 0) {
    begin(column);
    top().key = null;
  }
  const level = top() ?? { indent: 0, list: false, key: null, keys: [] };
  const atKey = !level.list && level.key === null && (column >= 0 || inFlow());
  const path = open.map(({ list, key }) => (list ? null : key));
  return { path: atKey ? path.slice(0, -1) : path, atKey, keys: level.keys, word };
}

/** Names that stand in the text by now, as the keys under `members` and `topics`. @param {string} text */
export function namesIn(text) {
  const section = (/** @type {string} */ key) => {
    const [, inline = '', lines = ''] =
      new RegExp(`^${key}:[ \\t]*(.*)((?:\\n(?:[ \\t].*|#.*)?)*)`, 'm').exec(text) ?? [];
    const flow = inline.startsWith('{');
    const depth = (/** @type {string} */ before) => before.split(/[{[]/).length - before.split(/[}\]]/).length;
    const body = `${inline}${lines}`;
    const indent = /^\n( +)\S/m.exec(lines)?.[1].length ?? 0;
    return [...body.matchAll(/([\w.-]+|"[^"]*"|'[^']*'):(?=\s|$)/g)]
      .filter(({ index }) => {
        const before = body.slice(0, index);
        const column = index - before.lastIndexOf('\n') - 1;
        return flow ? depth(before) === 1 : depth(before) === 0 && column === indent;
      })
      .map(([, name]) => name.replace(/^["']|["']$/g, ''));
  };
  return {
    members: section('members'),
    topics: section('topics'),
    group: [/^group:\s*(\S+)/m.exec(text)?.[1] ?? 'scenario'],
  };
}

/** The place of a key; `keys` are all that the mapping has. @param {Place | undefined} place @param {string} key @param {string[]} keys */
export function placeUnder(place, key, keys) {
  const verbs = place?.verbs ?? {};
  const verb = keys.find((other) => verbs[other]);
  /** @type {Place | undefined} */
  const of = verbs[key] ? verbs[key].who : verbs[verb ?? '']?.keys[key];
  return of ?? place?.keys?.[key] ?? place?.any;
}

/** What may come at a cursor. @param {string} text @param {number} at @param {Place} vocabulary @returns {{choices: Choice[], word: string}} */
export function choicesAt(text, at, vocabulary) {
  const { path, atKey, keys, word } = cursorAt(text, at);
  if (atKey && !path.length) keys.push(...[...text.matchAll(/^(\w+):/gm)].map(([, key]) => key));
  /** @type {Place | undefined} */
  let place = vocabulary;
  for (const key of path) if (key !== null) place = placeUnder(place, key, keys);
  if (!place) return { choices: [], word };
  const { verbs, names = [], values = [] } = place;
  /** @type {Choice[]} */
  const choices = [];
  if (atKey && verbs) {
    const chosen = keys.find((key) => verbs[key]);
    if (!keys.includes('at')) choices.push({ label: 'at', detail: 'when, such as 12s', key: true });
    const own = chosen ? Object.keys(verbs[chosen].keys) : [];
    choices.push(...own.map((label) => ({ label, key: true })));
    if (!chosen)
      choices.push(...Object.entries(verbs).map(([label, { sentence }]) => ({ label, detail: sentence, key: true })));
  } else if (atKey) choices.push(...Object.keys(place.keys ?? {}).map((label) => ({ label, key: true })));
  const named = namesIn(text);
  const listed = [...names.flatMap((of) => named[of]), ...values];
  if (!atKey || !keys.length) choices.push(...listed.map((label) => ({ label, key: Boolean(atKey && place?.any) })));
  return { choices: choices.filter(({ label, key }) => !key || !keys.includes(label)), word };
}

/** @typedef {{line: number | null, field: string | null, message: string}} Problem */

/** The word that a mistake names, `unknown member Z; did you mean A?`, or the last key of its path. @param {Problem} problem */
const wrongWord = ({ field, message }) =>
  /unknown (?!key)(?:[\w-]+ )*?(\S+); /.exec(message)?.[1] ?? /([^.[\]]+)(?:\[\d+\])*$/.exec(field ?? '')?.[1] ?? null;

/** Where in its line a mistake is: a word, or all that is written there. @param {string} line @param {Problem} problem */
export function wrongIn(line, problem) {
  const word = wrongWord(problem);
  const at = word ? line.search(new RegExp(`(?<![\\w.-])${word.replace(/[^\w-]/g, '\\$&')}(?![\\w.-])`)) : -1;
  if (word && at >= 0) return { from: at, to: at + word.length };
  return { from: line.length - line.trimStart().length, to: line.length };
}

/** What the server thinks was meant, if it does. @param {Problem} problem */
export const repaired = ({ message }) => /did you mean (\S+)\?$/.exec(message)?.[1] ?? null;
