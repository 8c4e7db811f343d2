/**
 * Rows as pixels: runs into words of an `ImageData`, in slices. Pure, and the same for one row over many pixels as
 * for many rows in one: where they meet in a pixel, the worst mode is seen.
 *
 * The grammar is that of the chips. In rows that are high enough, what is revoked is hatched, what waits is dashed,
 * what has no owner is dotted in red; in rows too thin for a texture only the colour shows it.
 *
 * @import {Palette, Track} from './types'
 */

import { ABSENT, BEHIND, LOST, MODES, REVOKING, SETTLED, STALLED, TWICE, UNASSIGNED, WAITING } from './modes.js';

/** Six hues and grey, and then none: a row that is settled and whose owner nobody asked about. */
export const GREY = 6;
export const NO_HUE = 7;
const HUES = 8;

/** From this height on, in CSS pixels, rows have textures and a gap between them. */
const TEXTURED = 6;

/** The period of every texture, in CSS pixels. */
const PERIOD = 12;

/**
 * The textures for rows of one height: for each mode and hue the words of `height` lines of `period` pixels.
 *
 * @param {Palette} palette
 * @param {number} height of a row without its gap, in device pixels
 * @param {number} ratio device pixels in a CSS pixel
 * @returns {{words: Uint32Array[], period: number, height: number, rich: boolean}} by code: mode × 8 + hue
 */
function texturesOf(palette, height, ratio) {
  const period = Math.round(PERIOD * ratio);
  const rich = height >= TEXTURED * ratio - 1;
  const words = [];
  for (let code = 0; code < MODES * HUES; code += 1) {
    const mode = code >> 3;
    const hue = code & 7;
    const tile = new Uint32Array(period * height);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < period; x += 1)
        tile[y * period + x] = word(palette, mode, hue, x / ratio, y / ratio, height / ratio, rich);
    }
    words.push(tile);
  }
  return { words, period, height, rich };
}

/**
 * The colour of one pixel of a texture; places in CSS pixels.
 *
 * @param {Palette} palette
 * @param {number} mode
 * @param {number} hue
 * @param {number} x
 * @param {number} y
 * @param {number} height
 * @param {boolean} rich
 */
function word(palette, mode, hue, x, y, height, rich) {
  const border = rich && (y < 1.25 || y >= height - 1.25);
  const slant = (x + y) % 6;
  switch (mode) {
    case ABSENT:
      return (x + y) % 4 < 1 ? palette.absent : palette.ground;
    case SETTLED:
      return hue === NO_HUE ? palette.settled : palette.hues[hue];
    case BEHIND:
      return palette.behind;
    case WAITING:
      return border && x % 6 < 4 ? palette.revoking : palette.waiting;
    case REVOKING:
      return !rich || slant < 3.4 || border ? palette.revoking : palette.behind;
    case STALLED:
      return !rich || x % 6 < 4 ? palette.stalled : palette.ground;
    case LOST:
      return !rich || x % 6 < 4 ? palette.lost : palette.ground;
    case UNASSIGNED:
      return !rich || (border && x % 3 < 1.5) ? palette.unassigned : palette.unassignedGround;
    case TWICE:
      return !rich || border || slant < 1.5 ? palette.unassigned : palette.ink;
    default:
      return palette.ground;
  }
}

/**
 * Puts a row's runs into a line of codes: the worst where several meet in a pixel.
 *
 * @param {Uint8Array} line a code for each pixel
 * @param {Track} track
 * @param {number} row
 */
export function trace(line, { offsets, start, codeOf, places }, row) {
  const width = line.length;
  const end = offsets[row + 1];
  for (let run = offsets[row]; run < end; run += 1) {
    const begins = places[start[run]];
    const ends = run + 1 < end ? places[start[run + 1]] : places[places.length - 1];
    const first = Math.max(0, Math.floor(begins));
    // What is shorter than a pixel is still seen, and so is the part of a pixel that a run ends in.
    const last = Math.min(width, Math.max(first + 1, Math.ceil(ends)));
    if (first >= width || ends < 0) continue;
    const code = codeOf(run);
    for (let at = first; at < last; at += 1) if (code > line[at]) line[at] = code;
  }
}

/**
 * Paints lines from the first that is in sight on, and stops after each so that the caller can let others go first.
 *
 * @param {object} what
 * @param {Uint32Array} what.words `width` × `height`
 * @param {number} what.width in device pixels
 * @param {number} what.height
 * @param {number} what.ratio
 * @param {number} what.top the first line's place, in device pixels, at most 0
 * @param {number} what.rowHeight in device pixels; below 1 lines are merged
 * @param {number} what.first the first line's number
 * @param {number} what.count of all lines
 * @param {(line: number) => readonly number[]} what.rowsOf which rows of the track a line contains
 * @param {Track} what.track
 * @param {Palette} what.palette
 * @returns {Generator<number, void>} how many lines of pixels are done
 */
export function* paint({ words, width, height, ratio, top, rowHeight, first, count, rowsOf, track, palette }) {
  const line = new Uint8Array(width);
  const gap = rowHeight >= TEXTURED * ratio ? Math.max(1, Math.round(ratio)) : 0;
  /** @type {Map<number, ReturnType<typeof texturesOf>>} */
  const sizes = new Map();
  const fill = (/** @type {number} */ from, /** @type {number} */ to) =>
    words.fill(palette.ground, from * width, to * width);
  let y = 0;
  let row = first;
  while (y < height) {
    if (row >= count) {
      fill(y, height);
      yield height;
      return;
    }
    // The lines of this line of pixels, or the lines of pixels of this line.
    const ends = Math.min(height, Math.max(y + 1, Math.round(top + (row - first + 1) * rowHeight)));
    const until =
      rowHeight >= 1
        ? row + 1
        : Math.min(count, Math.max(row + 1, first + Math.floor((y + 1 - top) / rowHeight + 1e-6)));
    line.fill(0);
    for (let index = row; index < until; index += 1) {
      for (const of of rowsOf(index)) if (of >= 0) trace(line, track, of);
    }
    const full = Math.max(1, ends - y - (ends - y > gap + 1 ? gap : 0));
    let textures = sizes.get(full);
    if (!textures) sizes.set(full, (textures = texturesOf(palette, full, ratio)));
    stamp(words, width, y, line, textures);
    fill(y + full, ends);
    row = until;
    y = ends;
    yield y;
  }
}

/** @param {Uint32Array} words @param {number} width @param {number} y @param {Uint8Array} line @param {ReturnType<typeof texturesOf>} textures */
function stamp(words, width, y, line, { words: tiles, period, height, rich }) {
  for (let down = 0; down < height; down += 1) {
    const at = (y + down) * width;
    const of = down * period;
    // In thin rows a texture goes on from row to row: begun again in each, slants would be lines.
    for (let across = 0, phase = rich ? 0 : y % period; across < width; across += 1) {
      words[at + across] = tiles[line[across]][of + phase];
      phase += 1;
      if (phase === period) phase = 0;
    }
  }
}
