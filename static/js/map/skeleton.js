/** The map's parts, and how they notify each other. */

import { h } from '../shared/dom.js';
import { Foot } from './foot.js';
import { Gestures } from './gestures.js';
import { Lane } from './lane.js';
import { List } from './list.js';
import { Strip } from './strip.js';
import { Surface } from './surface.js';
import { Toolbar } from './toolbar.js';

/** @typedef {ReturnType<typeof skeleton>} Parts */

/**
 * @param {HTMLElement} root
 * @param {object} options
 * @param {import('../frame/cast.js').Cast} options.cast
 * @param {import('../frame/labels.js').Labels} options.labels
 * @param {import('./say.js').Names} options.names
 * @param {(key: string) => void} options.onPick a partition
 * @param {import('./map.js').BoardMap} options.map
 */
export function skeleton(root, { cast, labels, names, onPick, map }) {
  const hueOf = (/** @type {string} */ key) => map.roster.hues.of(key);
  root.className = 'map';
  const toolbar = new Toolbar({
    onKind: (kind) => map.show(kind),
    onOnly: (only) => map.choose({ only }),
    onGrouping: (grouping) => map.choose({ grouping }),
    onQuery: (query) => map.choose({ query }),
    onAxis: (axis) => {
      map.axis = axis;
    },
    onFirst: () => map.first(),
  });
  const stripRoot = h('div.mstrip');
  const strip = new Strip(stripRoot, {
    hueOf: (actor) => (actor ? hueOf(cast.lane(actor).key) : 'x'),
    onSeek: (sequence) => map.onSeek(sequence),
    onPan: (place) => map.zoom(() => map.plot.centre(place)),
  });
  const pinCanvas = /** @type {HTMLCanvasElement} */ (h('canvas.mcanvas', { 'aria-hidden': 'true' }));
  const canvas = /** @type {HTMLCanvasElement} */ (h('canvas.mcanvas', { 'aria-hidden': 'true' }));
  const sizer = h('div.msizer', { role: 'presentation' });
  const pinsNode = h('div.mpins', { role: 'rowgroup', 'aria-label': 'Pinned' }, pinCanvas);
  const scroller = h(
    'div.mscroll',
    { role: 'rowgroup', tabindex: -1 },
    h('div.mstick', { role: 'presentation' }, canvas),
    sizer,
  );
  const grid = h('div.mgrid', { role: 'treegrid' }, pinsNode, scroller);
  const empty = h('p.mempty.quiet', { hidden: true });
  const list = new List({
    grid,
    pins: pinsNode,
    sizer,
    view: () => map.field.view,
    scrollTo: (top) => map.field.scrollTo(top),
    textOf: (line) => map.teller.textOf(line),
    looksOf: (line) => map.teller.looksOf(line),
    onOpen: (line) => map.open(line),
    onPin: (line) => map.pin(line.key),
    onKey: (key) => map.key(key),
  });
  const frame = h('div.mframe', stripRoot, grid, empty, strip.epochs, strip.ticks, strip.veil, strip.band, strip.line);
  const gestures = new Gestures(scroller, {
    spot: (event) => map.field.spot(event),
    says: (a, b, selects) => (selects ? 'Range' : `${map.field.between(a, b)}: zoom in`),
    selects: () => map.selecting,
    onRange: (a, b) => {
      const { scale } = map.plot;
      if (scale) map.onRange({ from: scale.at(Math.min(a.place, b.place)), to: scale.at(Math.max(a.place, b.place)) });
    },
    onClick: (spot) => map.clicked(spot),
    onBrush: (a, b) => map.brushed(a, b),
    onZoom: (by, place) => map.zoom(() => map.plot.zoom(by, place)),
    onPan: (by) => map.zoom(() => map.plot.pan(by)),
    onPoint: (spot) => foot.point(spot ? map.field.pointWords(spot) : ''),
  });
  sizer.append(gestures.brush);
  scroller.addEventListener('scroll', () => map.field.scrolled(), { passive: true });
  const laneRoot = h('section.mlane', { hidden: true });
  const lane = new Lane(laneRoot, {
    labels,
    names,
    onPick,
    onGo: (kind, key) => map.go(kind, key),
    onClose: () => map.close(),
  });
  const foot = new Foot((key) => map.key(key));
  const live = h('div.sr', { 'aria-live': 'polite' });
  root.replaceChildren(toolbar.root, frame, foot.root, laneRoot, live);
  const surfaces = { pins: new Surface(pinCanvas), rows: new Surface(canvas) };
  return {
    root,
    toolbar,
    strip,
    list,
    lane,
    foot,
    live,
    frame,
    grid,
    scroller,
    pinsNode,
    empty,
    surfaces,
  };
}
