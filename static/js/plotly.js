/**
 * Plotly's script, which is larger than all else together and is asked for only when a figure comes near; and our
 * tokens, since the figures' JSON has no colours.
 */

/** @type {Promise<any> | null} */
let loading = null;

/** @param {string} src @returns {Promise<any>} */
export function loadPlotly(src) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error('Plotly’s script could not be loaded.'));
    };
    document.head.append(script);
  });
  return loading;
}

/** The value of one of our tokens. @param {string} name */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
