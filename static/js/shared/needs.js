/**
 * Disables what the reader's role does not allow, with the reason. A control or a form names what it does by `data-needs`
 * (an action of the server's table); `data-of="others"` around it marks what somebody else has made. A page has this module only where a role
 * refuses something.
 */

/** @type {Record<string, string>} */
const refused = JSON.parse(document.querySelector('meta[name="refused-actions"]')?.getAttribute('content') ?? '{}');

/** @param {Element} element */
function whyNot(element) {
  const action = element.getAttribute('data-needs') ?? '';
  return refused[element.closest('[data-of="others"]') ? `others:${action}` : action];
}

/** @param {Element} element */
function disable(element) {
  const why = whyNot(element);
  if (!why) return;
  if (element instanceof HTMLFormElement) {
    for (const control of element.elements) control.toggleAttribute('disabled', true);
    if (element.querySelector(':scope > .refused')) return;
    const reason = document.createElement('p');
    reason.className = 'refused quiet';
    reason.setAttribute('role', 'note');
    reason.textContent = why;
    element.prepend(reason);
  } else if (!element.hasAttribute('disabled') || element.getAttribute('title') !== why) {
    element.toggleAttribute('disabled', true);
    element.setAttribute('title', why);
  }
}

const disableAll = () => document.querySelectorAll('[data-needs]').forEach(disable);

disableAll();
// Pages draw controls later, and enable some again.
new MutationObserver(disableAll).observe(document.body, {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ['disabled', 'data-of'],
});
