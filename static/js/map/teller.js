/**
 * What is so at the playhead, in words: of each row in sight, of all that are in trouble, of the row that was opened.
 *
 * @import {MapScene} from '../types'
 * @import {Kind, Line, RowText} from './types'
 */

import { SETTLED, WAITING } from './modes.js';
import { memberText, partitionText, troublesOf } from './say.js';
import { grouped } from '../shared/numbers.js';

export class Teller {
  /** @type {MapScene | null} */
  scene = null;
  #troubles = /** @type {import('./types').Trouble[]} */ ([]);
  /** Keys of the rows of this kind that are in trouble. @type {ReadonlySet<string>} */
  troubled = new Set();
  /** The row that is open. */
  opened = /** @type {{kind: Kind, key: string} | null} */ (null);

  /**
   * @param {object} options
   * @param {import('./roster.js').Roster} options.roster
   * @param {import('../frame/cast.js').Cast} options.cast
   * @param {import('./say.js').Names} options.names
   */
  constructor({ roster, cast, names }) {
    this.roster = roster;
    this.cast = cast;
    this.names = names;
  }

  /** Looks again at who is in trouble. @returns {boolean} whether others are than before */
  look() {
    if (this.scene) this.#troubles = troublesOf(this.scene, this.names);
    return this.choose();
  }

  get troubles() {
    return this.#troubles;
  }

  /** Of the kind of rows that is shown now. @returns {boolean} whether others are in trouble than before */
  choose() {
    const troubled = new Set(this.#troubles.filter(({ kind }) => kind === this.roster.kind).map(({ key }) => key));
    const same = troubled.size === this.troubled.size && [...troubled].every((key) => this.troubled.has(key));
    this.troubled = troubled;
    return !same;
  }

  /** @param {Line} line @returns {RowText} */
  textOf(line) {
    const { kind, entities } = this.roster;
    if (line.type === 'group') {
      const troubled = line.indices.filter((index) => this.troubled.has(entities[index].key)).length;
      const many = `${grouped(line.indices.length)} ${kind}`;
      return {
        says: troubled ? `${many}, ${grouped(troubled)} in trouble` : many,
        mode: troubled ? WAITING : SETTLED,
        links: [],
      };
    }
    return this.#of(kind, line.key);
  }

  /** @param {Kind} kind @param {string} key @returns {RowText} */
  #of(kind, key) {
    if (!this.scene) return { says: '', mode: SETTLED, links: [] };
    return kind === 'partitions'
      ? partitionText(this.scene, key, this.names)
      : memberText(this.scene, this.roster.lane(key), this.names);
  }

  /** How a row looks, besides its text. @param {Line} line */
  looksOf(line) {
    const { roster, opened } = this;
    const actor = this.scene?.moment?.actor;
    const members = roster.kind === 'members';
    return {
      hue: line.type === 'row' && members ? roster.hues.of(line.key) : 'x',
      opened: opened?.key === line.key && opened.kind === roster.kind,
      pinned: roster.pins.includes(line.key),
      actor: members && this.cast.knows(actor) && this.cast.lane(actor).key === line.key,
    };
  }

  /** Opens a row, or closes it if it is open. @param {string} key @returns {boolean} whether it is open now */
  toggle(key) {
    const { kind } = this.roster;
    this.opened = this.opened?.key === key && this.opened.kind === kind ? null : { kind, key };
    return this.opened !== null;
  }

  /** The open row as a lane. @param {import('./lane.js').Lane} lane */
  show(lane) {
    const entity = this.opened && this.roster.entity(this.opened.kind, this.opened.key);
    if (!entity || !this.opened || !this.scene) {
      lane.hide();
      return;
    }
    const { kind, key } = this.opened;
    const { members } = this.scene.frame;
    const member = kind === 'members' ? this.roster.lane(key).members.findLast((one) => members[one]) : undefined;
    lane.render(this.scene, {
      kind,
      entity,
      member,
      text: this.#of(kind, key),
      hue: kind === 'members' ? this.roster.hues.of(key) : 'x',
    });
  }
}
