/**
 * How large the reader's text is. Pages are laid out in rem, so that all of a page grows with the text that a browser is set to;
 * what a script draws, or counts in pixels, grows by `textSize()`.
 */

/** Pixels of a rem where nobody has asked for another. */
const USUAL_PX = 16;

let size = 1;
/** @type {Set<() => void>} */
const listeners = new Set();

/** How many pixels stand for one that a drawing counts. */
export function textSize() {
  return size;
}

/** A length that grows with the text. @param {number} px at the usual size */
export function rem(px) {
  return `${Number((px / USUAL_PX).toFixed(4))}rem`;
}

/** @param {number} rems @returns {number} how many pixels they are now */
export function pixels(rems) {
  return rems * USUAL_PX * size;
}

/** @param {() => void} act after the size has changed @returns {() => void} ends it */
export function onTextSize(act) {
  listeners.add(act);
  return () => listeners.delete(act);
}

/** What `@media (max-width: …em)` asks of a window. @param {number} px at the usual size */
export function isWithin(px) {
  return innerWidth <= px * size;
}

/** @param {number} px at the usual size @param {(is: boolean) => void} act each time that it changes */
export function onWithin(px, act) {
  let was = isWithin(px);
  const look = () => {
    if (isWithin(px) === was) return;
    was = !was;
    act(was);
  };
  addEventListener('resize', look);
  onTextSize(look);
}

/** The rules of a width as they were written. @type {Map<CSSMediaRule, string>} */
const written = new Map();

/**
 * An `em` of a media query is the browser's own, whatever the root is set to: where a reader's style sheet enlarges the root, widths at
 * which a page changes are enlarged with it.
 *
 * @param {number} times
 */
function enlargeWidths(times) {
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      const text = written.get(rule) ?? rule.media.mediaText;
      if (!/\dem\b/.test(text)) continue;
      written.set(rule, text);
      rule.media.mediaText = text.replace(/([\d.]+)em\b/g, (_, em) => `${Number(em) * times}em`);
    }
  }
}

/** An element that is nothing but so wide. @param {string} fontSize @param {string} width */
function probe(fontSize, width) {
  const node = document.createElement('i');
  Object.assign(node.style, { position: 'absolute', width, height: '0', visibility: 'hidden', fontSize });
  node.setAttribute('aria-hidden', 'true');
  // Outside the body: a page that is one file has a checksum of its body.
  document.documentElement.append(node);
  return node;
}

function watch() {
  const own = probe('medium', '1em');
  const root = probe('medium', '1rem');
  let enlarged = 1;
  const look = () => {
    const px = (/** @type {HTMLElement} */ node) => Number.parseFloat(getComputedStyle(node).width) || USUAL_PX;
    const times = px(root) / px(own);
    const now = px(root) / USUAL_PX;
    if (times !== enlarged) enlargeWidths(times);
    enlarged = times;
    if (now === size) return;
    size = now;
    for (const act of listeners) act();
  };
  look();
  const watching = new ResizeObserver(look);
  watching.observe(own);
  watching.observe(root);
}

// Without a page there is nobody who reads.
if (typeof document !== 'undefined') watch();
