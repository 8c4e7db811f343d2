/**
 * Who is on the board: lanes, letters and colours, by the order of joining and for the whole timeline.
 * Pure: no DOM.
 *
 * @import {Frame, Lane} from '../types'
 */

/** As many members have a colour of their own; the seventh and later are grey and distinguished by their letters. */
const HUES = 6;

/** A disc has room for as many letters. */
const BADGE_MOST = 3;

/** A restart or a static replacement (`A~2`) stays in the lane of the one that it replaces. @param {string} name */
const laneKey = (name) => name.replace(/~\d+$/, '');

/** What fits into a disc: the name itself where it is short, else the end of its last part. @param {string} name */
export function badgeOf(name) {
  if (name.length <= BADGE_MOST) return name;
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const last = parts[parts.length - 1] ?? name;
  return last.length <= BADGE_MOST ? last : last.slice(-2);
}

/** Letters that distinguish a lane from others, the best first. @param {string} name @param {string} badge */
function* badgesOf(name, badge) {
  yield badge;
  const letters = name.replace(/[^\p{L}\p{N}]/gu, '');
  yield letters.slice(-2);
  yield letters.slice(-BADGE_MOST);
  for (let number = 2; number < 100; number += 1)
    yield `${badge.slice(0, BADGE_MOST - String(number).length)}${number}`;
}

/** A process that restarted while the one before it still runs: its letters with a mark. */
const AGAIN = '′';

export class Cast {
  /** @type {Map<string, Lane>} */
  #lanes = new Map();
  /** Of all lanes, so that no two have the same. @type {Set<string>} */
  #badges = new Set();
  /** Lanes that have a hue of their own. */
  #hues = 0;
  /** @type {Map<string, string>} */
  #names = new Map();

  /** Members that a frame named, since no summary has yet: their lanes. @type {Map<string, string>} */
  #early = new Map();

  /** Lanes that ever were: the order of the next one. */
  #made = 0;

  /** Members whose lane is their own, since the one that it would be had somebody in it. @type {Map<string, string>} */
  #apart = new Map();

  /** @param {{id: string, name: string}[]} [cast] in order of joining */
  constructor(cast = []) {
    this.meet(cast);
  }

  /** @param {{id: string, name: string}[]} cast */
  meet(cast) {
    for (const { id, name } of cast) {
      this.#names.set(id, name);
      const early = this.#early.get(id);
      if (early !== undefined) {
        this.#early.delete(id);
        this.#rename(early, laneKey(name));
      }
      this.#lane(laneKey(name));
    }
  }

  /** The lane of a member that has its own name now, where nobody else is in it. @param {string} before @param {string} key */
  #rename(before, key) {
    const lane = this.#lanes.get(before);
    if (!lane || before === key || [...this.#names.values()].some((name) => laneKey(name) === before)) return;
    this.#lanes.delete(before);
    this.#badges.delete(lane.badge);
    if (!this.#lanes.has(key)) this.#lanes.set(key, { ...lane, key, name: key, badge: this.#badge(key, null) });
  }

  /**
   * Members that a frame holds before any summary has named them: by their instance or client id, where no other has it.
   *
   * @param {Frame} frame
   */
  meetFrame(frame) {
    for (const [id, member] of Object.entries(frame.members)) {
      if (this.#names.has(id)) continue;
      const wanted = member.instance_id || member.client_id || id;
      const name = this.#lanes.has(laneKey(wanted)) ? id : wanted;
      this.meet([{ id, name }]);
      this.#early.set(id, laneKey(name));
    }
    this.#part(frame);
  }

  /**
   * A process that restarts under another id joins while the coordinator still counts the first one: two members
   * at once, and a lane has room for one.
   *
   * @param {Frame} frame
   */
  #part(frame) {
    /** @type {Map<string, string>} */
    const taken = new Map();
    for (const id of Object.keys(frame.members)) {
      const key = this.#keyOf(id);
      if (taken.has(key) && this.name(id) !== key) this.#apart.set(id, this.name(id));
      else taken.set(key, id);
    }
  }

  /** @param {string} id */
  #keyOf(id) {
    return this.#apart.get(id) ?? laneKey(this.name(id));
  }

  /** The short name of a member. @param {string} id */
  name(id) {
    return this.#names.get(id) ?? id;
  }

  #common = { prefix: '', word: '' };

  /** What all names begin with, where it is written once for all of them. @param {{prefix: string, word: string}} common */
  shorten(common) {
    this.#common = common;
  }

  /** A name without that: the word that all have in common as well, and what is the member's own. @param {string} id @returns {[string, string]} */
  brief(id) {
    const name = this.name(id);
    const { prefix, word } = this.#common;
    return name.startsWith(prefix + word) ? [word, name.slice(prefix.length + word.length)] : ['', name];
  }

  /** @param {string} id @returns {Lane} */
  lane(id) {
    return this.#lane(this.#keyOf(id));
  }

  /** Whether an actor is a member. @param {string | null | undefined} id @returns {id is string} */
  knows(id) {
    return id !== null && id !== undefined && this.#names.has(id);
  }

  /** @returns {Lane[]} in order of joining */
  get lanes() {
    return [...this.#lanes.values()].sort((a, b) => a.order - b.order);
  }

  /** @param {string} key @returns {Lane} */
  #lane(key) {
    let lane = this.#lanes.get(key);
    if (!lane) {
      const first = laneKey(key) === key ? null : this.#lane(laneKey(key));
      const badge = this.#badge(key, first);
      lane = { key, name: key, badge, hue: first?.hue ?? this.#nextHue(), order: this.#made++ };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  /** Letters that no other lane has. @param {string} key @param {Lane | null} first the lane of the process that it restarts */
  #badge(key, first) {
    const wanted = first ? `${first.badge.slice(1 - BADGE_MOST)}${AGAIN}` : badgeOf(key);
    const badge = [...badgesOf(key, wanted)].find((one) => one && !this.#badges.has(one)) ?? wanted;
    this.#badges.add(badge);
    return badge;
  }

  #nextHue() {
    this.#hues += 1;
    return this.#hues <= HUES ? String(this.#hues - 1) : 'x';
  }
}
