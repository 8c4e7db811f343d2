/** What this browser keeps from page to page; one that keeps nothing forgets it with the page. */

/** @param {string} name @returns {string | null} */
export function kept(name) {
  try {
    return globalThis.localStorage?.getItem(name) ?? null;
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value null: no longer kept */
export function keep(name, value) {
  try {
    if (value === null) globalThis.localStorage?.removeItem(name);
    else globalThis.localStorage?.setItem(name, value);
  } catch {
    // What is chosen or written holds until the page is left.
  }
}
