/**
 * The group's own rows on the timeline: where its epochs begin, and the states that it was in.
 *
 * @import {Spans} from '../frame/spans.js'
 * @typedef {ReturnType<typeof import('./scale.js').scale>} Scale
 */

import { rect, s, text } from '../shared/dom.js';
import { FLAG, RIGHT } from './scale.js';

/**
 * A line where each epoch begins, with its number where there is room.
 *
 * @param {Scale} at @param {Spans} spans @param {boolean} classic
 * @param {{y1: number, yText: number, y2: number, left: number, right: number}} place
 */
export function epochLines(at, spans, classic, { y1, yText, y2, left, right }) {
  const nodes = [];
  let free = -Infinity;
  for (const [index, { epoch, sequence, at_ms }] of spans.epochs.entries()) {
    if (!at.shows(sequence, sequence)) continue;
    const x = at.of(sequence, at_ms);
    if (x < left - 1 || x > right) continue;
    const next = spans.epochs[index + 1];
    // An epoch that another one follows at once has no room of its own.
    if (next && at.of(next.sequence, next.at_ms) - x < 4) continue;
    nodes.push(s('line.epochline', { x1: x, x2: x, y1, y2 }));
    // What names an epoch ends before the next one begins.
    const ends = Math.min(right + RIGHT, next ? at.of(next.sequence, next.at_ms) : Infinity);
    const long = `${classic ? 'gen.' : 'epoch'} ${epoch}`;
    const label = [long, String(epoch)].find((name) => x + name.length * 6.4 + 6 < ends);
    if (x + 5 < free || !label) continue;
    // The playhead's flag is FLAG wide, and is at the beginning of an epoch more often than anywhere else.
    const nearby = x + FLAG / 2 + 3;
    const node = text(nearby + label.length * 6.4 < ends ? nearby : x + 5, yText, label, 'mono');
    node.append(s('title', long));
    nodes.push(node);
    free = x + label.length * 6.4 + 12;
  }
  return nodes;
}

/** The state of the group, as a bar for each stretch. @param {Scale} at @param {Spans} spans @param {number} y @param {number} left */
export function stateBars(at, spans, y, left) {
  const nodes = [];
  for (const stretch of spans.states) {
    if (!at.shows(stretch.from, stretch.to) || stretch.state === 'unknown') continue;
    const x = Math.max(left, at.of(stretch.from, stretch.from_ms));
    const width = at.of(stretch.to, stretch.to_ms) - x;
    if (width <= 0.5) continue;
    const quiet = stretch.state === 'Stable' || stretch.state === 'Empty' || stretch.state === 'Dead';
    nodes.push(
      rect(
        [x, y - 7, Math.max(1, width - 1.5), 13],
        { class: `gstate ${quiet ? 'quiet' : 'busy'}`, 'data-s': stretch.state, rx: 2 },
        s('title', stretch.state),
      ),
    );
    if (width > stretch.state.length * 5.6 + 8) nodes.push(text(x + 5, y + 3, stretch.state, quiet ? 'gs' : 'gs busy'));
  }
  return nodes;
}
