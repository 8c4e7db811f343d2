/**
 * Over the board: the group's state, its epochs, the sentence of the moment, and how far the group is from its target.
 *
 * @import {PartitionView} from '../types'
 * @import {Rest} from '../timeline/timeline.js'
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 * @import {Violation} from '../frame/hardships.js'
 */

import { barrierWords } from '../frame/barrier.js';
import { h } from '../shared/dom.js';
import { explained } from './explained.js';
import { placeWords } from '../timeline/playhead-words.js';
import { term } from '../shared/terms.js';
import { coordinatorWords } from '../frame/hardships.js';
import { unreadWords } from '../frame/unread.js';
import { gapOf, isClassic } from '../frame/view.js';
import { offsetWords } from '../frame/offset-marks.js';
import { duration, nowWords, stateMeans } from '../frame/words.js';

/** More pips than this say no more than the number. */
const PIPS_MOST = 12;

/** The member epoch of a static member that left for now. */
const AWAY = -2;

/** The last of the steps that prove a violation; there is room for no more. */
const PROOFS_MOST = 4;

export class GroupHead {
  /**
   * @param {object} parts
   * @param {HTMLElement} parts.state
   * @param {HTMLElement} parts.epochs
   * @param {HTMLElement} parts.now
   * @param {HTMLElement} parts.gap
   * @param {HTMLElement} parts.coordinator
   * @param {(sequence: number) => number | null} parts.numberOf the step that an entry belongs to
   * @param {(moment: import('../types').Moment) => string} parts.looksLike why members are gone whose removal it shows, as far as that is inferred
   * @param {() => boolean} [parts.midway] whether the log begins in the middle of the group's life
   * @param {Cast} parts.cast
   * @param {Labels} parts.labels
   */
  constructor(parts) {
    this.parts = parts;
  }

  /**
   * @param {Rest} rest
   * @param {Map<string, PartitionView> | import('../frame/ownership.js').Ownership} views
   * @param {Violation | null} violation
   * @param {import('../frame/unread.js').Unread[]} unread
   * @param {Map<string, import('../frame/offset-marks.js').Mark>} marks
   */
  render({ frame: settled, moment }, views, violation = null, unread = [], marks = new Map()) {
    const frame = moment ? { ...settled, at_ms: moment.at_ms } : settled;
    // Before the first entry of a log that begins in the middle nothing is known, not even that the group is empty.
    const midway = !moment && Boolean(this.parts.midway?.());
    const name = midway ? 'unknown' : (frame.state ?? 'unknown');
    if (this.parts.state.dataset.s !== name) {
      this.parts.state.dataset.s = name;
      this.parts.state.replaceChildren(h('i'), name);
    }
    // The glossary's meaning, without what it contains about another protocol.
    this.parts.state.dataset.term = name.toLowerCase();
    this.parts.state.setAttribute(
      'aria-label',
      `Group state ${name}. ${midway ? 'The log begins in the middle.' : stateMeans(frame)}`,
    );
    this.#replace(this.parts.epochs, isClassic(frame) ? classic(frame, this.parts.cast) : consumer(frame));
    const known = nowWords(frame, moment, views, this.parts.cast, (key) => this.parts.labels.partition(key), midway);
    const text = [known, moment ? this.parts.looksLike(moment) : ''].filter(Boolean).join(' ');
    this.parts.now.classList.toggle('bad', moment?.shape === 'violation');
    if (this.parts.now.textContent !== text)
      this.parts.now.replaceChildren(...emphasised(text, moment ? this.parts.cast.name(moment.actor) : ''));
    this.#replace(this.parts.gap, violation ? this.#proof(violation) : this.#gap(frame, views, unread, marks));
    const coordinator = coordinatorWords(frame);
    // Room is kept for it where it will be needed, so that the board does not jump.
    this.parts.coordinator.style.visibility = coordinator ? 'visible' : 'hidden';
    if (coordinator) {
      this.parts.coordinator.hidden = false;
      this.parts.coordinator.classList.toggle('waits', coordinator.waits);
      this.parts.coordinator.title = coordinator.title;
      this.parts.coordinator.textContent = coordinator.says;
    }
  }

  /** What has not changed stays, so that a word that is being read keeps its focus. @param {HTMLElement} root @param {HTMLElement[]} nodes */
  #replace(root, nodes) {
    const same =
      root.childElementCount === nodes.length && nodes.every((node, at) => node.isEqualNode(root.children[at]));
    if (!same) root.replaceChildren(...nodes);
  }

  /** The steps that prove it, each a link. @param {Violation} violation */
  #proof({ proof, invariant }) {
    const shown = proof.slice(-PROOFS_MOST);
    return [
      h('span', { title: `invariant ${invariant}` }, shown.length ? 'Proved by' : 'Seen at the end of the run'),
      ...shown.map((sequence) =>
        h(
          'a',
          { href: `?at=${sequence}`, 'data-at': sequence, title: `entry ${sequence}` },
          placeWords(this.parts.numberOf(sequence), sequence),
        ),
      ),
    ];
  }

  /**
   * @param {import('../types').Frame} frame
   * @param {Map<string, PartitionView> | import('../frame/ownership.js').Ownership} views
   * @param {import('../frame/unread.js').Unread[]} unread
   * @param {Map<string, import('../frame/offset-marks.js').Mark>} marks
   */
  #gap(frame, views, unread, marks) {
    if (marks.size)
      return [
        h(
          'span.unread',
          offsetWords(marks, (key) => this.parts.labels.partition(key)),
        ),
      ];
    if (unread.length) {
      // That the group has converged is the coordinator's view; nobody reads is what counts.
      const sentence = unreadWords(
        unread,
        (member) => this.parts.cast.name(member),
        (key) => this.parts.labels.partition(key),
      );
      return [
        h(
          'span',
          {
            class: unread.every(({ why }) => why === 'silent') ? 'silent' : 'unread',
            title: 'The coordinator counts the owner among the members until its session expires.',
          },
          sentence,
        ),
      ];
    }
    const waits = barrierWords(frame, (member) => this.parts.cast.name(member));
    if (waits) {
      return [
        h(
          'span',
          {
            title:
              'Members that have sent the request, and those that the others wait for. When the time is over, who has not come is removed.',
          },
          waits.says,
          waits.left_ms === null ? null : h('span', '; ', h('b', duration(waits.left_ms)), ' left'),
        ),
      ];
    }
    if (frame.barrier) return [h('span', 'No rebalance in progress')];
    if (isClassic(frame) || frame.state === 'NotReady' || !Object.keys(frame.members).length) return [];
    const far = gapOf(frame, views);
    if (!far)
      return [
        h(
          'span',
          frame.group_epoch ? `Target for epoch ${frame.group_epoch} not computed yet` : 'Target not computed yet',
        ),
      ];
    const { of, off, each } = far;
    const pips =
      each && of <= PIPS_MOST
        ? h(
            'span.pips',
            { 'aria-hidden': 'true' },
            each.map((reached) => h('i', { class: reached ? null : 'o' })),
          )
        : null;
    const words = off
      ? h('span', h('b', off), ` of ${of} still to reach ${off > 1 ? 'their' : 'its'} target`)
      : h('span', term('converged', 'Converged'), ': every member owns its target');
    return pips ? [pips, words] : [words];
  }
}

/** @param {import('../types').Frame} frame */
function consumer(frame) {
  const group = frame.group_epoch ?? 0;
  const known = (/** @type {number | null | undefined} */ epoch) => epoch ?? 'unknown';
  const all = Object.values(frame.members).flatMap((member) => (member.epoch === null ? [] : [member.epoch ?? 0]));
  const epochs = all.filter((epoch) => epoch !== AWAY);
  const away = all.length - epochs.length;
  const low = Math.min(...epochs);
  const high = Math.max(...epochs);
  const parts = [
    h('span', term('group epoch'), ' ', h('b', known(frame.group_epoch))),
    h(
      'span',
      { class: frame.assignment_epoch !== null && (frame.assignment_epoch ?? 0) < group ? 'behind' : null },
      term('assignment epoch'),
      ' ',
      h('b', known(frame.assignment_epoch)),
    ),
  ];
  if (epochs.length) {
    parts.push(
      h(
        'span',
        { class: low < group ? 'behind' : null },
        term('member epoch', low === high ? 'member epoch' : 'member epochs'),
        ' ',
        h('b', low === high ? low : `${low}–${high}`),
      ),
    );
  }
  if (away) parts.push(h('span', 'away ', h('b', away)));
  if (frame.topology) parts.push(h('span', 'topology ', h('b', frame.topology.epoch)));
  return parts;
}

/** @param {import('../types').Frame} frame @param {Cast} cast */
function classic(frame, cast) {
  const parts = [h('span', term('generation'), ' ', h('b', frame.generation ?? 'unknown'))];
  if (frame.protocol_name) parts.push(h('span', 'assignor ', h('b', frame.protocol_name)));
  const leader = frame.barrier?.leader ?? frame.leader;
  if (leader && cast.knows(leader)) parts.push(h('span', 'leader ', h('b', cast.name(leader))));
  return parts;
}

/** Leaves out the actor's name. @param {string} text @param {string} name */
function emphasised(text, name) {
  if (!name || !text.startsWith(`${name} `)) return explained(text);
  return [h('b', name), ...explained(text.slice(name.length))];
}
