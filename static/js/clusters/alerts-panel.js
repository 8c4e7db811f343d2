/**
 * The alerts of a cluster on its page: those that hold and held, the rules, and what was sent.
 *
 * @import {Alert, Overview, Rule} from './alerts.js'
 */

import { ask, submit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { clock } from '../shared/times.js';
import { orToast, toast } from '../shared/toast.js';
import { messageOf } from '../shared/errors.js';
import { keep, kept } from '../shared/kept.js';
import { counted } from '../shared/numbers.js';
import { duration } from '../frame/words.js';
import {
  FIELDS,
  KEYED,
  aboutWords,
  deliveryWords,
  holding,
  isOfGroups,
  ruleOf,
  silenceOf,
  silenceWords,
} from './alerts.js';

const KEPT = 'alerts in this browser';

/**
 * @param {string} url of the cluster in the API
 * @param {Overview} first
 * @param {string} cluster its name, for notifications
 * @param {import('../live/live-source.js').ServerClock} clockOfServer
 */
export function alertsPanel(url, first, cluster, clockOfServer) {
  let overview = first;
  const form = /** @type {HTMLFormElement} */ (part('rule-add'));
  const notify = part('notify');

  async function refresh() {
    try {
      overview = await ask(`${url}/alerts`);
      draw();
    } catch {
      // Another part of the page shows that the server is away; the next message has it fetched again.
    }
  }

  /** @param {() => Promise<unknown>} does @param {string} failing */
  async function act(does, failing) {
    await orToast(failing, does);
    await refresh();
  }

  /** @param {Alert} alert */
  function alertRow(alert) {
    const ended = alert.ended_ms;
    const known = alert.kind === 'finding' || ended === null ? '' : `, over after ${duration(ended - alert.since_ms)}`;
    return h(
      'li',
      { class: ended === null ? 'on' : '' },
      h('i', { 'aria-hidden': 'true' }),
      h('span.gn.mono', alert.about),
      alert.url ? h('a', { href: alert.url }, alert.says) : h('span', alert.says),
      h(
        'span.quiet.small',
        `${ended === null ? 'Now, since ' : ''}${clock(alert.since_ms)}${known}${alert.silenced ? ', silenced' : ''}`,
      ),
    );
  }

  /** @param {Rule} rule */
  function ruleRow(rule) {
    const address = `${url}/rules/${rule.id}`;
    const turn = () => act(() => submit(address, 'PATCH', { enabled: !rule.enabled }), 'It could not be changed.');
    const test = () => act(() => submit(`${address}/test`, 'POST', {}), 'The test could not be sent.');
    const remove = () => act(() => submit(address, 'DELETE'), 'It could not be removed.');
    return h(
      'li',
      { class: rule.enabled ? '' : 'off' },
      h('b', rule.says),
      h('span.quiet', aboutWords(rule), rule.webhook ? `, to ${rule.webhook}` : ''),
      rule.blocked ? h('span.w', rule.blocked) : null,
      h(
        'span.acts',
        rule.webhook ? h('button.btn.sm', { 'data-needs': 'target', onclick: test }, 'Test') : null,
        h('button.btn.sm', { 'data-needs': 'change-rule', onclick: turn }, rule.enabled ? 'Turn off' : 'Turn on'),
        h('button.btn.sm', { 'data-needs': 'change-rule', onclick: remove }, 'Remove'),
      ),
    );
  }

  /** @param {import('./alerts.js').Silence} silence */
  function silenceRow(silence) {
    const end = () => act(() => submit(`${url}/silences/${silence.id}`, 'DELETE'), 'It could not be ended.');
    return h(
      'li',
      h('b', silenceWords(silence)),
      h('span.quiet', `until ${clock(silence.until_ms)}: ${silence.why}${silence.who ? ` (${silence.who})` : ''}`),
      h('span.acts', h('button.btn.sm', { 'data-needs': 'rule', onclick: end }, 'End')),
    );
  }

  function draw() {
    const nowMs = clockOfServer.now();
    const held = holding(overview.alerts);
    part('alert-count').textContent = held.length ? `${counted(held.length, 'alert')} now` : 'none now';
    part('alerts').replaceChildren(...overview.alerts.map(alertRow));
    part('held').hidden = !held.length;
    part('held').replaceChildren(
      ...held.map(({ about, url: at, says }) =>
        h('li', h('b.mono', about), ' ', at ? h('a', { href: at }, says) : says),
      ),
    );
    part('no-alerts').hidden = overview.alerts.length > 0;
    part('rules').replaceChildren(...overview.rules.map(ruleRow));
    part('no-rules').hidden = overview.rules.length > 0;
    part('silences').replaceChildren(...overview.silences.map(silenceRow));
    part('no-silences').hidden = overview.silences.length > 0;
    part('deliveries').replaceChildren(
      ...overview.deliveries.map((delivery) =>
        h(
          'tr',
          h('td.nowrap', clock(delivery.created_ms)),
          h('td', delivery.says),
          h('td', { class: delivery.state === 'failed' ? 'w' : '' }, deliveryWords(delivery, nowMs)),
        ),
      ),
    );
    part('delivery-count').textContent = overview.deliveries.length
      ? `${counted(overview.deliveries.length, 'message')}${overview.waiting ? `, ${overview.waiting} waiting` : ''}`
      : 'none sent yet';
    notify.hidden = !('Notification' in window) || !overview.rules.length;
    notify.setAttribute('aria-pressed', String(isWanted()));
  }

  const isWanted = () => Notification.permission === 'granted' && kept(KEPT) === 'yes';

  part('rules-usual').addEventListener('click', () =>
    act(() => submit(`${url}/rules/usual`, 'POST', {}), 'They could not be added.'),
  );
  notify.addEventListener('click', async () => {
    if (isWanted()) keep(KEPT, null);
    else if ((await Notification.requestPermission()) === 'granted') keep(KEPT, 'yes');
    else toast('This browser does not allow notifications from here; its settings for this address say so.');
    draw();
  });

  function fields() {
    const kind = /** @type {HTMLSelectElement} */ (form.elements.namedItem('kind')).value;
    for (const label of form.querySelectorAll('[data-field]')) {
      const name = /** @type {HTMLElement} */ (label).dataset.field ?? '';
      const wanted = FIELDS[kind]?.[name];
      /** @type {HTMLElement} */ (label).hidden = wanted === undefined;
      if (wanted !== undefined) /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value = String(wanted);
    }
    part('rule-group').hidden = !isOfGroups(kind);
    key();
    part('rule-why').textContent = '';
  }

  function key() {
    const sent = /** @type {HTMLSelectElement} */ (form.elements.namedItem('form'));
    part('rule-key').hidden = !KEYED.includes(sent.value);
  }

  form.addEventListener('change', (event) => {
    const changed = /** @type {HTMLElement} */ (event.target).getAttribute('name');
    if (changed === 'kind') fields();
    if (changed === 'form') key();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const given = /** @type {{[name: string]: string}} */ (Object.fromEntries(new FormData(form).entries()));
    try {
      await submit(`${url}/rules`, 'POST', ruleOf(given));
      part('rule-why').textContent = 'Added; it is looked at from now on.';
      await refresh();
    } catch (error) {
      part('rule-why').textContent = messageOf(error, 'It could not be added.');
    }
  });

  const silence = /** @type {HTMLFormElement} */ (part('silence-add'));
  silence.addEventListener('submit', async (event) => {
    event.preventDefault();
    const given = /** @type {{[name: string]: string}} */ (Object.fromEntries(new FormData(silence).entries()));
    try {
      await submit(`${url}/silences`, 'POST', silenceOf(given, clockOfServer.now()));
      part('silence-why').textContent = 'No message is sent from now on.';
      await refresh();
    } catch (error) {
      part('silence-why').textContent = messageOf(error, 'It could not be added.');
    }
  });

  fields();
  draw();
  return {
    /** What was pushed: alerts that began or ended; none where something else changed. @param {Alert[]} alerts */
    hear(alerts) {
      if ('Notification' in window && isWanted())
        for (const alert of alerts.filter((each) => each.ended_ms === null || each.kind === 'finding'))
          new Notification(alert.about === cluster ? cluster : `${cluster}: ${alert.about}`, {
            body: alert.says,
            tag: alert.id,
          });
      refresh();
    },
  };
}
