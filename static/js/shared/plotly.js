/**
 * Plotly's script, which is larger than all else together and is asked for only when a figure comes near; and our
 * tokens, since the figures' JSON has no colours.
 */

import { textSize } from './text-size.js';

/**
 * For every figure, since Plotly's own defaults upload it: its button "Share chart…" hands the data to a cloud.
 * Nothing leaves this server, so there is neither the button nor an address for it.
 */
const CONFIG = { showSendToCloud: false, plotlyServerURL: '' };

/** @type {Promise<any> | null} */
let loading = null;

/** @param {string} src @returns {Promise<any>} */
export function loadPlotly(src) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    script.onload = () => {
      const { Plotly } = /** @type {any} */ (window);
      Plotly.setPlotConfig(CONFIG);
      resolve(Plotly);
    };
    script.onerror = () => {
      loading = null;
      reject(new Error('Plotly’s script could not be loaded.'));
    };
    document.head.append(script);
  });
  return loading;
}

/** A figure's margins, for text that is larger than usual. @param {{[side: string]: number}} [margin] in pixels @returns {{[side: string]: number}} */
export const enlarged = (margin = {}) =>
  Object.fromEntries(Object.entries(margin).map(([side, px]) => [side, px * textSize()]));

/** The value of one of our tokens. @param {string} name */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
