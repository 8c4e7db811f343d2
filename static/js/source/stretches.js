/**
 * The owners of one partition, from a window's runs: what its card shows. Pure.
 *
 * @import {PartitionsWindow, Span} from '../types'
 */

import { MODES } from './flags.js';

/**
 * @param {PartitionsWindow} window
 * @param {string} key
 * @returns {{spans: Span[], bare: {key: string, from: number, to: number | null, from_ms: number, to_ms: number | null}[]}}
 */
export function stretchesOf(window, key) {
  const cut = key.lastIndexOf('-');
  const topic = window.topics.find((one) => one.topic === key.slice(0, cut));
  const partition = Number(key.slice(cut + 1));
  /** @type {{spans: Span[], bare: any[]}} */
  const found = { spans: [], bare: [] };
  if (!topic || partition >= topic.partitions) return found;
  const row = topic.first_row + partition;
  const { first, from_ms } = window.columns;
  const end = window.offsets[row + 1];
  /** @type {any} */
  let open = null;
  for (let run = window.offsets[row]; run < end; run += 1) {
    const mode = MODES[window.mode[run]];
    const lane = window.owner[run] < 0 ? '' : window.lanes[window.owner[run]];
    const kind = mode === 'free' || mode === 'absent' ? mode : mode === 'revoking' ? 'revoking' : 'own';
    if (open && open.kind === kind && open.lane === lane) continue;
    const at = { from: first[window.start[run]], from_ms: from_ms[window.start[run]] };
    close(found, open, at, key);
    open = { kind, lane, ...at };
  }
  close(found, open, null, key);
  return found;
}

/** @param {{spans: Span[], bare: any[]}} found @param {any} open @param {{from: number, from_ms: number} | null} next @param {string} key */
function close(found, open, next, key) {
  if (!open || open.kind === 'absent') return;
  const stretch = {
    key,
    from: open.from,
    from_ms: open.from_ms,
    to: next ? next.from : null,
    to_ms: next ? next.from_ms : null,
  };
  if (open.kind === 'free' || !open.lane) found.bare.push(stretch);
  else found.spans.push({ ...stretch, lane: open.lane, mode: open.kind });
}
