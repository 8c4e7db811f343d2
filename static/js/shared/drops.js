/** Dropping things on a part of the page. */

/**
 * Marks the part while something is over it, and takes what is dropped.
 *
 * @param {HTMLElement} root
 * @param {(dropped: DataTransfer) => unknown} onDrop returns false where the browser may do what it does with such a thing
 */
export function takesDrops(root, onDrop) {
  root.addEventListener('dragover', (event) => {
    event.preventDefault();
    root.classList.add('over');
  });
  root.addEventListener('dragleave', () => root.classList.remove('over'));
  root.addEventListener('drop', (event) => {
    root.classList.remove('over');
    if (event.dataTransfer && onDrop(event.dataTransfer) !== false) event.preventDefault();
  });
}
