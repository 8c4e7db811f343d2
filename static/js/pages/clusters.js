/**
 * The list of clusters, and the wizard that adds one: each step of the connection is tested, and shows what it found and
 * what was sent for it.
 *
 * @typedef {{name: string, state: 'ok' | 'warning' | 'failed', says: string, seen: string | null, sent: string[], commands: string[]}} Step
 */

import { submit } from '../shared/api.js';
import { propertiesOf, usesLogin, usesTls } from '../clusters/properties.js';
import { h, part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';

const TITLES = {
  settings: 'Settings',
  resolve: 'Name',
  connect: 'Connection',
  versions: 'Kafka',
  login: 'Login',
  brokers: 'Brokers',
  rights: 'Rights',
};

const form = /** @type {HTMLFormElement} */ (part('add'));
const keep = /** @type {HTMLButtonElement} */ (part('keep'));
const test = /** @type {HTMLButtonElement} */ (part('test'));
const why = part('why');

const filled = () => /** @type {any} */ (Object.fromEntries(new FormData(form)));

function show() {
  const protocol = filled().protocol;
  for (const label of form.querySelectorAll('.sasl')) /** @type {HTMLElement} */ (label).hidden = !usesLogin(protocol);
  for (const label of form.querySelectorAll('.tls')) /** @type {HTMLElement} */ (label).hidden = !usesTls(protocol);
}

/** @param {string} name @param {string} state @param {string} text @param {...(Node | null)} more */
const row = (name, state, text, ...more) =>
  h(
    'li',
    { class: state, 'data-step': name },
    h('span.mk', { 'aria-hidden': 'true' }),
    h(
      'span',
      h('b', TITLES[/** @type {keyof typeof TITLES} */ (name)]),
      ' ',
      state === 'failed' ? 'failed. ' : '',
      text,
    ),
    ...more,
  );

/** @param {Step[]} steps */
function draw(steps) {
  const done = new Set(steps.map((step) => step.name));
  part('steps').replaceChildren(
    ...steps.map((step) =>
      row(
        step.name,
        step.state,
        step.says,
        step.seen ? h('span.aside.mono', `Seen: ${step.seen}`) : null,
        step.sent.length ? h('span.aside', `Sent: ${step.sent.join(', ')}`) : null,
        step.commands.length ? h('pre.mono', step.commands.join('\n')) : null,
      ),
    ),
    ...Object.keys(TITLES)
      .filter((name) => !done.has(name))
      .map((name) => row(name, 'waits', 'was not tried: what comes before must be right first.')),
  );
}

async function check() {
  keep.disabled = true;
  test.disabled = true;
  why.textContent = 'Testing…';
  try {
    const known = await submit('/api/clusters/check', 'POST', { properties: propertiesOf(filled()) });
    draw(known.steps);
    keep.disabled = !known.ok;
    why.textContent = known.ok ? 'It can be added.' : 'Fix the step that failed, then test again.';
  } catch (error) {
    part('steps').replaceChildren();
    why.textContent = messageOf(error, 'The test could not be made.');
  } finally {
    test.disabled = false;
  }
}

async function add() {
  if (!form.reportValidity()) return;
  keep.disabled = true;
  try {
    const added = await submit('/api/clusters', 'POST', { name: filled().name, properties: propertiesOf(filled()) });
    location.assign(added.url);
  } catch (error) {
    why.textContent = messageOf(error, 'The cluster could not be added.');
    keep.disabled = false;
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void check();
});
form.addEventListener('input', (event) => {
  show();
  // What was tested is not what is there any more; the name is no part of it.
  if (/** @type {HTMLInputElement} */ (event.target).name !== 'name') keep.disabled = true;
});
keep.addEventListener('click', add);
show();
