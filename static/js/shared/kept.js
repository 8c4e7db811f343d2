/**
 * What this browser keeps from page to page, or a tab (`sessionStorage`); one that keeps nothing forgets it with the page.
 *
 * @typedef {'localStorage' | 'sessionStorage'} Store
 */

/** @param {string} name @param {Store} [store] @returns {string | null} */
export function kept(name, store = 'localStorage') {
  try {
    return globalThis[store]?.getItem(name) ?? null;
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value null: no longer kept @param {Store} [store] */
export function keep(name, value, store = 'localStorage') {
  try {
    if (value === null) globalThis[store]?.removeItem(name);
    else globalThis[store]?.setItem(name, value);
  } catch {
    // What is chosen or written holds until the page is left.
  }
}
