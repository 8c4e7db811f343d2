/**
 * Chips: one node per partition, moved and never redrawn, so that the eye can follow it.
 *
 * A move is FLIP: the node goes to its new cell at once, is put back by a transform, and the transform is
 * played away. `travel` resolves when all have landed.
 *
 * @import {Column, PartitionView} from '../types'
 */

import { calm, h } from '../shared/dom.js';

/** Several chips start one after another, so that each is seen. */
const APART_MS = 60;
/** With more than this the last would start too late; they go together. */
const APART_CHIPS = 8;

/**
 * @param {Column} column
 * @param {string} prefix what is written before its number
 * @param {string} shape of the topic, where there are several
 */
export function chip(column, prefix, shape) {
  return /** @type {HTMLButtonElement} */ (
    h('button.chip', { 'data-key': column.key }, ...face(column, prefix, shape))
  );
}

/** What a chip or an outline has written on it; the topic is left out where a column is narrow. */
export function face(/** @type {Column} */ column, /** @type {string} */ prefix, /** @type {string} */ shape) {
  return [
    shape ? h('span.shape', { 'aria-hidden': 'true' }, shape) : null,
    h('span', h('span.topic', prefix), column.partition),
  ];
}

/**
 * The chip's name for a screen reader: the whole state in words.
 *
 * @param {PartitionView | undefined} view
 * @param {string} label
 * @param {(member: string) => string} name
 * @param {string} [who] has a partition
 */
export function chipWords(view, label, name, who = 'owner') {
  if (!view || view.mode === 'free')
    return view?.wants
      ? `${label}: unassigned, target owner ${name(view.wants)}`
      : `${label}: ${who === 'owner' ? 'unassigned' : `no ${who}`}`;
  const holder = name(/** @type {string} */ (view.holder));
  const whom = view.wants ? name(view.wants) : 'nobody';
  if (view.mode === 'own' && view.holders.length > 1)
    return `${label}: shared by ${view.holders.map(name).join(' and ')}`;
  if (view.mode === 'twice') return `${label}: owned twice, by ${view.holders.map(name).join(' and ')}`;
  if (view.mode === 'revoking') return `${label}: ${holder} is revoking it for ${whom}`;
  if (view.mode === 'leaving') return `${label}: owned by ${holder}, goes to ${whom}`;
  return `${label}: ${who === 'owner' ? 'owned' : 'read'} by ${holder}`;
}

/** @param {Iterable<Element>} chips */
export function measure(chips) {
  /** @type {Map<Element, DOMRect>} */
  const places = new Map();
  for (const node of chips) if (node.isConnected) places.set(node, node.getBoundingClientRect());
  return places;
}

/**
 * Play the way from where the chips were measured to where they are.
 *
 * @param {Map<Element, DOMRect>} from
 * @param {Element[]} moved
 * @param {() => void} onFrame called on each frame while any is under way, and once at the end
 */
export function travel(from, moved, onFrame) {
  if (calm() || !moved.length) return;
  const length = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--move')) || 480;
  const flights = [];
  for (const node of moved) {
    const a = from.get(node);
    if (!a) continue;
    const b = node.getBoundingClientRect();
    const x = a.left - b.left;
    const y = a.top - b.top;
    if (Math.abs(x) + Math.abs(y) <= 1) continue;
    node.classList.add('moving');
    const flight = node.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: 'none' }], {
      duration: length,
      easing: 'cubic-bezier(.45, .05, .2, 1)',
      fill: 'backwards',
      delay: moved.length <= APART_CHIPS ? flights.length * APART_MS : 0,
    });
    flights.push(flight.finished.catch(() => {}).then(() => node.classList.remove('moving')));
  }
  if (!flights.length) return;
  let under = true;
  Promise.all(flights).then(() => {
    under = false;
  });
  const tick = () => {
    onFrame();
    if (under) requestAnimationFrame(tick);
  };
  tick();
}
