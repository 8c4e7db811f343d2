/**
 * The theme's colours as words of an `ImageData`: canvas knows no custom properties.
 *
 * @import {Palette} from './types'
 */

/** `#rgb`, `#rrggbb`, `rgb(r, g, b)`: what a computed custom property or colour gives. @param {string} text */
function wordOf(text) {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim());
  if (hex) {
    const full = hex[1].length === 3 ? [...hex[1]].map((digit) => digit + digit).join('') : hex[1];
    return packed(
      Number.parseInt(full.slice(0, 2), 16),
      Number.parseInt(full.slice(2, 4), 16),
      Number.parseInt(full.slice(4, 6), 16),
    );
  }
  const [r, g, b] = (text.match(/\d+(\.\d+)?/g) ?? ['0', '0', '0']).map(Number);
  return packed(r, g, b);
}

/** Red lies lowest: so an `ImageData` lies in memory on every machine that runs a browser. @param {number} r @param {number} g @param {number} b */
const packed = (r, g, b) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** @param {Element} root @returns {Palette} */
export function paletteOf(root) {
  const style = getComputedStyle(root);
  const of = (/** @type {string} */ name) => wordOf(style.getPropertyValue(name));
  return {
    ground: of('--panel'),
    absent: of('--map-absent'),
    settled: of('--map-settled'),
    behind: of('--map-behind'),
    waiting: of('--map-waiting'),
    revoking: of('--map-revoking'),
    stalled: of('--map-stalled'),
    lost: of('--bad-line'),
    unassigned: of('--bad-line'),
    unassignedGround: of('--bad-bg'),
    ink: of('--ink'),
    hues: [...['0', '1', '2', '3', '4', '5'].map((hue) => of(`--m${hue}`)), of('--map-settled')],
  };
}
