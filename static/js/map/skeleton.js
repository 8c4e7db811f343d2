/**
 * The map's parts, and who tells whom.
 */

import { h } from '../dom.js';
import { BlocksView } from './blocks-view.js';
import { Foot } from './foot.js';
import { Gestures } from './gestures.js';
import { Lane } from './lane.js';
import { List } from './list.js';
import { Strip } from './strip.js';
import { Surface } from './surface.js';
import { Toolbar } from './toolbar.js';
import { TroubleList } from './trouble-list.js';

/**
 * @param {HTMLElement} root
 * @param {object} options
 * @param {import('../cast.js').Cast} options.cast
 * @param {import('../labels.js').Labels} options.labels
 * @param {import('./say.js').Names} options.names
 * @param {(key: string) => void} options.onPick
 * @param {any} options.map what the parts ask of the map
 */
export function skeleton(root, { cast, labels, names, onPick, map }) {
  root.className = 'map';
  const toolbar = new Toolbar({
    onKind: map.show, onOnly: (only) => map.choose({ only }), onGrouping: (grouping) => map.choose({ grouping }),
    onQuery: (query) => map.choose({ query }), onAxis: map.axis, onFirst: map.first,
  });
  const trouble = new TroubleList({
    onGo: (one) => map.go(one.kind, one.key), onAll: map.all,
    nameOf: (one) => (one.kind === 'members' ? cast.name(one.key) : labels.partition(one.key)),
    hueOf: (one) => (one.kind === 'members' ? map.hueOf(one.key) : 'x'),
  });
  const stripRoot = h('div', { class: 'mstrip' });
  const strip = new Strip(stripRoot, {
    hueOf: (actor) => (actor ? map.hueOf(cast.lane(actor).key) : 'x'), onSeek: map.seek, onPan: map.centre,
  });
  const pinCanvas = /** @type {HTMLCanvasElement} */ (h('canvas', { class: 'mcanvas', 'aria-hidden': 'true' }));
  const canvas = /** @type {HTMLCanvasElement} */ (h('canvas', { class: 'mcanvas', 'aria-hidden': 'true' }));
  const sizer = h('div', { class: 'msizer', role: 'presentation' });
  const pinsNode = h('div', { class: 'mpins', role: 'rowgroup', 'aria-label': 'Pinned' }, pinCanvas);
  const scroller = h('div', { class: 'mscroll', role: 'rowgroup', tabindex: -1 }, h('div', { class: 'mstick', role: 'presentation' }, canvas), sizer);
  const grid = h('div', { class: 'mgrid', role: 'grid' }, pinsNode, scroller);
  const empty = h('p', { class: 'mempty quiet', hidden: true });
  const list = new List({
    grid, pins: pinsNode, scroller, sizer, textOf: map.textOf, looksOf: map.looksOf, onOpen: map.open, onPin: map.pin, onKey: map.key,
  });
  const frame = h('div', { class: 'mframe' }, stripRoot, grid, empty, strip.epochs, strip.ticks, strip.veil, strip.line);
  const gestures = new Gestures(scroller, {
    spot: map.spot, says: (a, b) => `${map.between(a, b)}: zoom in`, onClick: map.clicked, onBrush: map.brushed, onZoom: map.zoom, onPan: map.pan, onPoint: map.point,
  });
  sizer.append(gestures.brush);
  scroller.addEventListener('scroll', map.scrolled, { passive: true });
  const laneRoot = h('section', { class: 'mlane', hidden: true });
  const lane = new Lane(laneRoot, { labels, names, onPick, onGo: map.go, onClose: map.close });
  const blocks = new BlocksView({ cast, labels, onPick, onBack: map.back });
  const foot = new Foot(map.key);
  const live = h('div', { class: 'sr', 'aria-live': 'polite' });
  root.replaceChildren(toolbar.root, trouble.root, frame, blocks.root, foot.root, laneRoot, live);
  const surfaces = { pins: new Surface(pinCanvas), rows: new Surface(canvas) };
  return { root, toolbar, trouble, strip, list, lane, blocks, foot, live, frame, grid, scroller, pinsNode, empty, surfaces };
}
