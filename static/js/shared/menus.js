/** Menus of the bar close with Escape, and with a press elsewhere. */

import { hit } from './dom.js';

const OPEN = '.menu[open], .links .pgroup[open]';

/** @param {Node | null} kept what is pressed @param {boolean} back whether the focus goes back to what opened the menu */
function close(kept, back) {
  for (const menu of document.querySelectorAll(OPEN)) {
    if (kept && menu.contains(kept)) continue;
    menu.removeAttribute('open');
    if (back) menu.querySelector('summary')?.focus();
  }
}

document.addEventListener('pointerdown', (event) => close(/** @type {Node} */ (event.target), false));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && hit(event, OPEN)) close(null, true);
});
