/**
 * Which rows there are, in which order and under which heads: search, filter, groups. Pure.
 *
 * @import {Entity, Grouping, Line} from './types'
 */

import { byName, folded } from '../frame/names.js';
import { append } from '../shared/lists.js';

/** What a word of a search may be limited to: `host:10.1.2.7`. */
const FIELDS = ['name', 'host', 'rack', 'client', 'topic'];
/** A search is typed by hand; what is longer is cut. */
const QUERY_MOST = 300;

/**
 * What is looked for: all words must be found, each in any part of what an entity is known by, or in the part that
 * it names.
 *
 * @param {string} query
 * @returns {(haystack: Haystack) => boolean}
 */
function matcher(query) {
  const words = folded(query.slice(0, QUERY_MOST))
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const cut = word.indexOf(':');
      const field = cut > 0 && FIELDS.includes(word.slice(0, cut)) ? word.slice(0, cut) : null;
      return field ? { field, word: word.slice(cut + 1) } : { field: null, word };
    });
  return ({ of, all }) => words.every(({ field, word }) => (field ? of[field] : all).includes(word));
}

/**
 * @typedef {{all: string, name: string, of: {[field: string]: string}}} Haystack what an entity can be found by, folded
 *
 * @param {Entity} entity
 * @returns {Haystack}
 */
export function haystack(entity) {
  const name = folded(entity.name);
  const of = {
    name,
    host: folded(entity.host ?? ''),
    rack: folded(entity.rack ?? ''),
    client: folded(entity.also.join('\n')),
    topic: folded(entity.topic ?? ''),
  };
  return { all: [name, of.host, of.rack, of.client, of.topic].join('\n'), name, of };
}

/**
 * Those that match, the best first: whose name is what was typed, then begins so, then holds it, then the others.
 *
 * @param {readonly Haystack[]} haystacks by the entities' indices
 * @param {string} query
 * @returns {number[]} indices
 */
export function found(haystacks, query) {
  const matches = matcher(query);
  const plain = folded(query.trim());
  if (!plain) return [];
  /** @type {number[][]} */
  const ranks = [[], [], [], []];
  for (const [index, one] of haystacks.entries()) {
    if (!matches(one)) continue;
    const rank = one.name === plain ? 0 : one.name.startsWith(plain) ? 1 : one.name.includes(plain) ? 2 : 3;
    ranks[rank].push(index);
  }
  return ranks.flat();
}

/** What is where a host or a rack is not known. @type {{[grouping in Grouping]: string}} */
const UNKNOWN = {
  none: '',
  host: 'host not known',
  rack: 'rack not known',
  client: 'client id not known',
  topic: 'topic not known',
};

/**
 * The lines of the list.
 *
 * @param {readonly Entity[]} entities
 * @param {object} how
 * @param {Grouping} how.grouping
 * @param {(group: string) => boolean} how.closed which groups' rows are hidden
 * @param {((index: number) => boolean) | null} how.keep which rows there are; null: all
 * @param {number[]} [how.of] these and no others
 * @returns {Line[]}
 */
export function linesOf(entities, { grouping, closed, keep, of = entities.map((_, index) => index) }) {
  const indices = of.filter((index) => !keep || keep(index));
  indices.sort((a, b) => entities[a].order - entities[b].order || a - b);
  /** @param {number} index @param {1 | 2} level @returns {Line} */
  const row = (index, level) => ({
    type: 'row',
    key: entities[index].key,
    index,
    level,
    name: entities[index].name,
    indices: [index],
    open: true,
  });
  if (grouping === 'none') return indices.map((index) => row(index, 1));
  /** @type {Map<string | null, number[]>} */
  const groups = new Map();
  for (const index of indices) append(groups, entities[index][grouping], index);
  const names = [...groups.keys()].sort((a, b) => Number(a === null) - Number(b === null) || byName(a ?? '', b ?? ''));
  return names.flatMap((name) => {
    const those = /** @type {number[]} */ (groups.get(name));
    const key = `${grouping}\n${name ?? ''}`;
    const open = !closed(key);
    /** @type {Line} */
    const head = {
      type: 'group',
      key,
      index: those[0],
      level: 1,
      name: name ?? UNKNOWN[grouping],
      indices: those,
      open,
    };
    return [head, ...(open ? those.map((index) => row(index, 2)) : [])];
  });
}
