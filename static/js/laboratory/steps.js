/**
 * The steps of the open assignor's algorithm; the one that is looked at shows what it did.
 *
 * @import {LabStep, Sheet} from './types'
 */

import { h } from '../shared/dom.js';
import { partitionAt } from './layout.js';
import { hueOf, labelOf } from './people.js';

/** @param {HTMLElement} list @param {Sheet} sheet @param {LabStep[]} steps @param {number} at @param {(step: number) => void} onStep */
export function showSteps(list, sheet, steps, at, onStep) {
  const held = list.contains(document.activeElement);
  list.replaceChildren(
    ...steps.map((step, place) => {
      const now = place === at;
      return h(
        'li',
        { 'aria-current': now ? 'step' : null, onclick: () => onStep(place) },
        h('span.n', { 'aria-hidden': 'true' }, place + 1),
        h('button', { 'data-key': `step-${place}` }, step.says),
        now && step.strip ? stripOf(sheet, step.strip) : null,
        now && step.chips?.length ? chipsOf(sheet, step.chips) : null,
      );
    }),
  );
  const current = /** @type {HTMLElement | null} */ (list.children[at] ?? null);
  // Only the list scrolls, never the page.
  if (
    current &&
    (current.offsetTop < list.scrollTop ||
      current.offsetTop + current.offsetHeight > list.scrollTop + list.clientHeight)
  )
    list.scrollTop = current.offsetTop - 40;
  if (held) current?.querySelector('button')?.focus({ preventScroll: true });
}

/** @param {Sheet} sheet @param {number[][]} strip */
function stripOf(sheet, strip) {
  return h(
    'div.strip',
    { style: `grid-template-columns:repeat(${strip.length},minmax(0,1fr))` },
    ...strip.map(([member, count, before]) =>
      h(
        'span',
        h('i.who', { 'data-hue': hueOf(member) }, labelOf(sheet.members[member].name)),
        h('b', before !== count ? h('span.q', `${before}→`) : null, count),
      ),
    ),
  );
}

/** @param {Sheet} sheet @param {number[][]} chips */
function chipsOf(sheet, chips) {
  return h(
    'div.chips',
    ...chips.map(([column, member]) => {
      const { name } = partitionAt(sheet, column);
      return member < 0
        ? h('span.o', name)
        : h('span', { 'data-hue': hueOf(member) }, `${name} → ${labelOf(sheet.members[member].name)}`);
    }),
  );
}
