/**
 * Single keys, never taken from somebody who types, and never from a button that Space would press.
 *
 * @typedef {{[key: string]: () => void}} Bindings
 */

/**
 * The name of a key press in the bindings: `Shift+ArrowLeft`, `Space`, `?`, `Ctrl+k` (also for ⌘).
 *
 * @param {{key: string, shiftKey?: boolean, ctrlKey?: boolean, metaKey?: boolean}} event
 */
export function keyName({ key, shiftKey = false, ctrlKey = false, metaKey = false }) {
  const name = key === ' ' ? 'Space' : key.length === 1 ? key.toLowerCase() : key;
  if (ctrlKey || metaKey) return `Ctrl+${name}`;
  return shiftKey && key.startsWith('Arrow') ? `Shift+${name}` : name;
}

/**
 * Whether the page may take this key press.
 *
 * @param {any} event a KeyboardEvent
 * @param {boolean} modal whether a dialog is open
 */
export function mayTake(event, modal) {
  if (event.defaultPrevented || event.altKey || modal) return false;
  const target = event.target;
  const tag = target?.tagName ?? '';
  // The focus leaves a dialog only with the drawing after it has closed: nobody presses what is not there any more.
  if (target?.closest?.('dialog:not([open])')) return true;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(tag) || target?.isContentEditable) return false;
  // Space presses no link.
  const pressable = tag === 'BUTTON' || tag === 'SUMMARY' || (tag === 'A' && event.key === 'Enter');
  return !((event.key === ' ' || event.key === 'Enter') && pressable);
}

/**
 * Where a key leads in a list; null where it is no key of lists.
 *
 * @param {string} key @param {number} at @param {number} count @param {number} page rows in sight
 */
export function placeAfter(key, at, count, page = 1) {
  /** @type {{[key: string]: number}} */
  const places = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1,
  };
  return key in places ? Math.max(0, Math.min(count - 1, places[key])) : null;
}

/** @param {Bindings} bindings @param {Document} page */
export function listen(bindings, page = document) {
  page.addEventListener('keydown', (event) => {
    if (!mayTake(event, page.querySelector('dialog[open]') !== null)) return;
    const act = bindings[keyName(event)];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
