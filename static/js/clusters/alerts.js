/**
 * Alerts of a cluster: which fields a rule has, and what is said of a delivery. No DOM.
 *
 * @typedef {object} Rule
 * @property {string} id
 * @property {string} kind
 * @property {string} group
 * @property {string} says
 * @property {string | null} webhook
 * @property {string | null} form
 * @property {boolean} enabled
 * @property {string | null} blocked why it cannot fire now
 *
 * @typedef {object} Alert
 * @property {string} id
 * @property {string} kind
 * @property {string} group
 * @property {string} about the group, as its name is shown, or the cluster
 * @property {string} says
 * @property {number} since_ms
 * @property {number} at_ms
 * @property {number | null} ended_ms
 * @property {boolean} silenced
 * @property {string | null} url
 *
 * @typedef {{id: string, kind: string, group: string, until_ms: number, why: string, who: string}} Silence
 *
 * @typedef {object} Delivery
 * @property {number} id
 * @property {string} status
 * @property {string} says
 * @property {string} state
 * @property {number} tries
 * @property {string} answer
 * @property {number} created_ms
 * @property {number | null} next_try_ms
 *
 * @typedef {{rules: Rule[], silences: Silence[], alerts: Alert[], deliveries: Delivery[], waiting: number}} Overview
 */

/** The fields of each kind, with what is in them at first. @type {{[kind: string]: {[field: string]: number | string}}} */
export const FIELDS = {
  unassigned: { for_s: 30 },
  stuck: { for_s: 120 },
  storm: { count: 5, within_s: 600 },
  causeless: {},
  empty: { for_s: 60 },
  lag: { count: 10_000, for_s: 60 },
  late: { lag_s: 300, for_s: 60 },
  not_caught_up: { for_s: 300 },
  growing: { count: 1_000, within_s: 600 },
  lost: {},
  unreadable: { for_s: 60 },
  unreachable: { for_s: 60 },
  finding: { finding: 'crash_loop' },
};

/** Kinds that are about the cluster itself, and about no group. */
const OF_CLUSTER = ['unreachable'];

/** Whether a rule of this kind may name a group. @param {string} kind */
export const isOfGroups = (kind) => !OF_CLUSTER.includes(kind);

/** What a rule is about. @param {{kind: string, group: string}} rule */
export function aboutWords(rule) {
  if (!isOfGroups(rule.kind)) return 'the cluster itself';
  return rule.group ? `in ${rule.group}` : 'in all groups';
}

/** Forms that need a key. */
export const KEYED = ['pagerduty', 'grafana'];

/** Where messages go; a form is sent with an address alone. @param {{[name: string]: string}} fields */
function destinationOf(fields) {
  const webhook = (fields.webhook ?? '').trim();
  if (!webhook) return { webhook };
  const form = webhook.startsWith('mailto:') ? 'mail' : (fields.form ?? 'json');
  return { webhook, form, ...(KEYED.includes(form) ? { key: (fields.key ?? '').trim() } : {}) };
}

/** The body of a new rule, from a form's fields. @param {{[name: string]: string}} fields */
export function ruleOf(fields) {
  const kind = fields.kind ?? '';
  const numbers = Object.entries(FIELDS[kind] ?? {}).map(([name, first]) => {
    const given = (fields[name] ?? '').trim();
    return [name, typeof first === 'number' && /^\d+$/.test(given) ? Number(given) : given];
  });
  return {
    kind,
    group: isOfGroups(kind) ? (fields.group ?? '').trim() : '',
    ...destinationOf(fields),
    ...Object.fromEntries(numbers),
  };
}

/** What a silence is about. @param {Pick<Silence, 'kind' | 'group'>} silence */
export const silenceWords = ({ kind, group }) => `${group || 'all groups'}${kind ? `, ${kind}` : ''}`;

/** The body of a new silence. @param {{[name: string]: string}} fields @param {number} nowMs */
export function silenceOf({ hours, ...fields }, nowMs) {
  const until = Math.round(nowMs + Number(hours) * 3_600_000);
  return { ...fields, until: Number.isFinite(until) ? until : hours };
}

/** Those that hold now. @param {Alert[]} alerts */
export const holding = (alerts) => alerts.filter((alert) => alert.ended_ms === null);

/** What a delivery came to. @param {Delivery} delivery @param {number} nowMs */
export function deliveryWords(delivery, nowMs) {
  const tries = delivery.tries === 1 ? '1 try' : `${delivery.tries} tries`;
  if (delivery.state === 'delivered') return `Delivered: ${delivery.answer}`;
  if (delivery.state === 'dropped') return `Dropped: ${delivery.answer}`;
  if (delivery.state === 'failed') return `Given up after ${tries}: ${delivery.answer}`;
  if (!delivery.tries) return 'Waiting';
  const inS = Math.max(0, Math.round(((delivery.next_try_ms ?? nowMs) - nowMs) / 1000));
  return `${tries}, ${delivery.answer}; next in ${inS} s`;
}
