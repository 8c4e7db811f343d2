/** The fields that bytes are pasted or typed into: they are read when their writer pauses, or presses Enter. */

/** While somebody types, nothing is asked for. */
const PAUSE_MS = 150;

/** @param {HTMLTextAreaElement[]} fields @param {{read: () => unknown, onEnter: () => void}} acts */
export function wireTyping(fields, { read, onEnter }) {
  let pause = /** @type {any} */ (null);
  const readNow = () => {
    clearTimeout(pause);
    pause = null;
    return read();
  };
  for (const field of fields) {
    field.addEventListener('input', () => {
      clearTimeout(pause);
      pause = setTimeout(readNow, PAUSE_MS);
    });
    field.addEventListener('blur', () => field.scrollTo(0, 0));
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') field.blur();
      if (event.key === 'Enter' && !event.shiftKey) {
        event.preventDefault();
        // What was read already is not read again: the selection stays where it is.
        if (pause !== null) readNow();
        onEnter();
      }
    });
  }
}
