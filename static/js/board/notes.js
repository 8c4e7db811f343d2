/**
 * What is at the ends of a lane: who the member is and what it does on the left, who blocks whom on the right.
 *
 * @import {Frame, PartitionView} from '../types'
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 */

import { placeOf, waitsAtBarrier } from '../frame/barrier.js';
import { disc } from '../frame/disc.js';
import { parted } from '../frame/names.js';
import { h, s } from '../shared/dom.js';
import { counted } from '../shared/numbers.js';
import {
  coordinatorWords,
  expressionOf,
  hardshipsOf,
  outsiderWords,
  replacedBy,
  stillReads,
} from '../frame/hardships.js';
import {
  arrivesBy,
  NEXT_TARGET,
  ofIt,
  obstacleOf,
  receivesNext,
  rejoins,
  toRevoke,
  untilWhat,
} from '../frame/next-heartbeat.js';
import {
  alsoOwnedBy,
  epochOf,
  givingUp,
  hasStopped,
  heldBy,
  isClassic,
  isShare,
  keysOf,
  readingChanges,
  waitsOf,
} from '../frame/view.js';
import { capital, duration, holdingWords, list, memberWords, silentWords } from '../frame/words.js';
import { deadlines, ring } from './ring.js';

/** Digits and name together that have room next to "epoch … of …", and next to "epoch …"; with more the badge keeps to its numbers. */
const NAME_SHORT = { behind: 4, level: 10 };

/** A name up to this length is written in full under a chip; for a longer one there is its disc. */
const CAPTION_MOST = 8;

/** A member where there is little room. @param {Cast} cast @param {string} member */
export function named(cast, member) {
  const name = cast.name(member);
  return name.length > CAPTION_MOST ? disc(cast, member) : name;
}

/**
 * A name without what all names begin with; a phone leaves out the word that they have in common, too. Of a name that is too long
 * the end stays.
 *
 * @param {Cast} cast @param {string} member
 */
export function shortName(cast, member) {
  const [word, own] = cast.brief(member);
  if (word) return [h('span.pre', word), h('span.own', own)];
  const { head, tail } = parted(own);
  return tail ? [h('span.cuts', head), h('span.own', tail)] : [head];
}

/** @param {Frame} frame @param {string} member @param {boolean} short */
function epochBadge(frame, member, short = false) {
  const group = epochOf(frame) ?? 0;
  const epoch = frame.members[member].epoch ?? null;
  if (epoch === null) return null;
  if (epoch === -2)
    return h(
      'span.epoch',
      { title: 'member epoch −2: a static member that left and may return' },
      h('span', short ? '−2' : 'away (−2)'),
    );
  const behind = epoch < group;
  // On a phone there is no room for two numbers of two digits: the triangle shows that it is behind.
  const long = `${epoch}${group}`.length > 2;
  const word = isClassic(frame) ? 'generation' : 'epoch';
  return h(
    'span',
    {
      class: ['epoch', behind && 'behind', long && 'long'],
      title: `member epoch ${epoch}, group epoch ${group}`,
    },
    behind
      ? s(
          'svg',
          { width: 9, height: 9, viewBox: '0 0 9 9', 'aria-hidden': 'true' },
          s('path', { d: 'M4.5 .8 8.6 8H.4z', fill: 'currentColor' }),
        )
      : null,
    h('span', short ? null : h('i.word', `${word} `), h('b', epoch), behind ? h('span.of', ` of ${group}`) : null),
  );
}

/**
 * @param {Frame} frame
 * @param {string} member
 * @param {Cast} cast
 * @param {Labels} labels
 * @param {boolean} compact
 * @param {number} [silent_ms] since its last commit, where the member is silent
 */
export function leadOf(frame, member, cast, labels, compact, silent_ms) {
  const lane = cast.lane(member);
  const left = deadlines(frame, member);
  const { says: text, brief, kafka, term } = memberWords(frame, member, (key) => labels.partition(key), silent_ms);
  const state = frame.members[member];
  const name = cast.name(member);
  const behind = (state.epoch ?? 0) < (epochOf(frame) ?? 0);
  const digits = `${state.epoch ?? 0}${behind ? epochOf(frame) : ''}`.length;
  const terse = !compact && name.length + digits > NAME_SHORT[behind ? 'behind' : 'level'];
  const beat = frame.clients?.[member]?.heartbeat_ms;
  const before = replacedBy(frame, member, cast);
  const third = coordinatorWords(frame)?.loads
    ? 'no session runs yet'
    : typeof beat === 'number'
      ? `heartbeat ${duration(frame.at_ms - beat)} ago`
      : [state.client_id, state.host].filter(Boolean).join(' ');
  const expression = expressionOf(frame, member);
  const title = [
    member,
    state.instance_id && `instance ${state.instance_id}`,
    state.rack_id && `rack ${state.rack_id}`,
    state.process_id && `process ${state.process_id}`,
    state.endpoint && `endpoint ${state.endpoint}`,
    typeof state.topology_epoch === 'number' && `topology epoch ${state.topology_epoch}`,
  ]
    .filter(Boolean)
    .join(', ');
  const place = placeOf(frame, member);
  return [
    ring(lane, left, compact ? 38 : 48),
    // Two posts, JoinGroup and SyncGroup, and the member's disc before, between or behind them.
    place && place !== 'past'
      ? h('span.gate', { 'data-at': place, 'data-hue': lane.hue, 'aria-hidden': 'true' }, h('i'))
      : null,
    h(
      'div.txt',
      h(
        'div.nm',
        compact
          ? null
          : h(
              'span',
              {
                class: name === lane.badge ? 'id short' : 'id',
                title: [before && `a new process of ${before}, same group.instance.id`, name !== member && name, title]
                  .filter(Boolean)
                  .join(', '),
              },
              before ? h('span.before', `${before} → `) : null,
              ...shortName(cast, member),
            ),
        epochBadge(frame, member, terse),
      ),
      h(
        'div',
        {
          class: frame.clients?.[member]?.killed ? 'st hard' : 'st',
          ...(term
            ? { 'data-term': term, 'data-head': kafka || text }
            : { title: [text, kafka].filter(Boolean).join('; ') }),
        },
        compact ? brief : text,
      ),
      compact
        ? null
        : hardshipsOf(frame, member)
            .filter((one) => one.says !== text)
            .map((one) => h('div', { class: one.bad ? 'hard bad' : 'hard', title: one.kafka }, one.says)),
      compact || silent_ms === undefined || brief === 'Silent' ? null : h('div.hard', capital(silentWords(silent_ms))),
      compact || !expression ? null : h('div.rx', { title: matched(expression) }, expression.regex),
      compact ? null : h('div.hb', third),
    ),
  ].filter((node) => node !== null);
}

/**
 * @param {Frame} frame
 * @param {string} member
 * @param {import('./lanes.js').Scene['views']} views
 * @param {Cast} cast
 * @param {Labels} labels
 * @param {boolean} silent
 */
export function noteOf(frame, member, views, cast, labels, silent) {
  const state = frame.members[member];
  const label = (/** @type {string} */ key) => labels.partition(key);
  const lines = [];
  for (const [other, keys] of alsoOwnedBy(views, member))
    lines.push(h('span.w', disc(cast, other), ` owns ${list(keys.map(label))}, too`));
  const { blocks, waitsFor, free } = waitsOf(frame, views, member);
  for (const [whom, keys] of blocks) {
    lines.push(h('span.w', 'Blocks ', disc(cast, whom), ` on ${list(keys.map(label))}`));
  }
  const { session, rebalance } = deadlines(frame, member);
  const obstacle = obstacleOf(frame, member);
  if (obstacle === 'killed')
    lines.push(h('span', session ? `Its session expires in ${duration(session.ms)}` : 'Its session is still open'));
  else if (blocks.size) {
    if (obstacle === 'revokes')
      lines.push(
        h(
          'span',
          `Is asked to revoke ${toRevoke(frame, member).length > 1 ? 'them' : 'it'} ${arrivesBy(frame, member)}`,
        ),
      );
    else if (rebalance) lines.push(h('span', `${duration(rebalance.ms)} left to revoke`));
  }
  for (const [holder, keys] of waitsFor) {
    lines.push(h('span', 'Waits for ', disc(cast, holder), ' to release ', h('b', list(keys.map(label)))));
  }
  if (free.length) {
    const [are, them] = free.length > 1 ? ['are', 'them'] : ['is', 'it'];
    const text = obstacle
      ? ` ${are} unassigned until ${ofIt(untilWhat(frame, member, label))}`
      : ` ${are} unassigned: gets ${them} ${arrivesBy(frame, member)}`;
    lines.push(h('span', h('b', list(free.map(label))), text));
  }
  if (isShare(frame)) {
    const { begins, leaves } = readingChanges(frame, member);
    if (begins.length) lines.push(h('span', 'Reads ', h('b', list(begins.map(label))), ' at its next heartbeat'));
    if (leaves.length) lines.push(h('span', 'Leaves ', h('b', list(leaves.map(label))), ' at its next heartbeat'));
  }
  if (frame.barrier) {
    const { waitsFor: missing, holdsUp, reason } = waitsAtBarrier(frame, member);
    const discs = (/** @type {string[]} */ whom) => whom.map((other) => disc(cast, other));
    if (missing.length) lines.push(h('span', 'Waits for ', ...discs(missing)));
    if (holdsUp.length) lines.push(h('span.w', 'Holds up ', ...discs(holdsUp)));
    if (reason) lines.push(h('span.quiet.reason', `“${reason}”`));
    const later = keysOf(frame.withheld?.[member]);
    if (later.length) lines.push(h('span', 'Withheld for the next round: ', h('b', list(later.map(label)))));
  }
  const rest = lines.length ? null : quiet(frame, member, state, label, silent);
  if (rest) lines.push(h('span.quiet', rest));
  const expression = expressionOf(frame, member);
  if (expression) lines.push(h('span.quiet', matched(expression)));
  for (const sentence of copies(state, label)) lines.push(h('span.quiet', sentence));
  return lines;
}

/** What an expression matched, or why that is not known. @param {{regex: string, topics: string[] | null}} expression */
function matched({ regex, topics }) {
  if (!topics) return `What ${regex} matches is in no record yet`;
  return topics.length ? `${regex} matches ${list(topics)}` : `${regex} matches no topic`;
}

/** Who is no member any more and does not know it, or has just learned it. @param {Frame} frame @param {string} member @param {Cast} cast */
export function outsiderLead(frame, member, cast) {
  const lane = cast.lane(member);
  const { says: text, kafka, bad } = outsiderWords(frame, member);
  return [
    ring(lane, { session: null, rebalance: null }, 48),
    h(
      'div.txt',
      h(
        'div.nm',
        h(
          'span',
          { class: cast.name(member) === lane.badge ? 'id short' : 'id', title: member },
          ...shortName(cast, member),
        ),
        h('span.epoch.out', { title: kafka }, 'not a member'),
      ),
      h('div', { class: bad ? 'hard bad' : 'hard', title: kafka }, text),
    ),
  ];
}

/** @param {Frame} frame @param {string} member @param {Labels} labels */
export function outsiderNote(frame, member, labels) {
  const keys = stillReads(frame, member);
  const fenced = frame.clients?.[member]?.fenced;
  return [
    keys.length ? h('span.w', `Its client still reads ${list(keys.map((key) => labels.partition(key)))}`) : null,
    fenced ? h('span', `Fenced by ${fenced}`) : h('span', 'Is fenced in its next heartbeat response'),
  ].filter((node) => node !== null);
}

/** @param {Frame} frame @param {string} member @param {import('../types').MemberFrame} state @param {(key: string) => string} label @param {boolean} silent */
function quiet(frame, member, state, label, silent) {
  const owned = keysOf(heldBy(frame, member)).length;
  if (hasStopped(frame)) return 'Assigned in the next generation';
  if (isClassic(frame) && silent) return `Assigned ${counted(owned, 'partition')}`;
  if (isClassic(frame))
    return capital(
      frame.barrier ? (owned ? `reads ${counted(owned, 'partition')}` : 'reads nothing') : holdingWords(state),
    );
  // A static member that left for now sends no heartbeat whose answer it could learn that from.
  if (state.epoch === -2) return 'Its session is still open';
  if (givingUp(frame, member).length) {
    const calling = frame.clients?.[member]?.calling;
    return calling
      ? `Confirms the revocation when ${calling} has returned`
      : `Confirms the revocation in its next ${rejoins(frame, member) ? 'JoinGroup' : 'heartbeat'}`;
  }
  if (state.epoch === null) return 'Its epoch and assignment are not in the log yet';
  if ((state.epoch ?? 0) < (frame.group_epoch ?? 0))
    return owned || frame.target?.[member] ? receivesNext(frame, member, label) : 'Waits for a target';
  const target = keysOf(frame.target?.[member]).length;
  const has = silent ? 'Is assigned' : isShare(frame) ? 'Reads' : 'Owns';
  // Only where an invariant is broken: nobody owns more than its target for good. That it owns its target is its state.
  return owned === target ? null : `${has} ${owned}; its target: ${target}`;
}

/**
 * Standby and warm-up tasks have no chips: a column shows who owns the task, and copies are not owned.
 *
 * @param {import('../types').MemberFrame} state
 * @param {(key: string) => string} label
 */
function copies(state, label) {
  const said = (/** @type {string} */ word, /** @type {import('../types').Partitions | undefined} */ tasks) => {
    const keys = keysOf(tasks);
    return keys.length ? [`${word} ${list(keys.map(label))}`] : [];
  };
  return [
    ...said('Standby of', state.standby),
    ...said('Warms up', state.warmup),
    ...said('Drops its copy of', state.standby_pending_revocation),
    ...said('Drops its copy of', state.warmup_pending_revocation),
  ];
}

/** @param {string} text how many @param {Labels} labels */
export function poolLead(text, labels) {
  const title =
    'Released, not yet assigned to another member: the coordinator\u2019s view. What a client still reads is in no record.';
  return h('div.txt', h('div.nm', { title }, labels.having.none), h('div.st', text));
}

/** Of as many unassigned partitions it is looked up who is to get them. */
const LOOKED_UP_MOST = 1000;

/**
 * @param {Frame} frame
 * @param {ReadonlySet<string>} free partitions without an owner
 * @param {import('./lanes.js').Scene['views']} views
 * @param {Cast} cast
 * @param {(key: string) => string} label
 */
export function poolNote(frame, free, views, cast, label) {
  const count = free.size;
  if (!count) return [];
  if (isShare(frame) && keysOf(frame.initializing).length) return [h('span', 'Share state is being made')];
  if (isClassic(frame))
    return [
      h(
        'span',
        frame.barrier ? 'Nobody reads them until the leader has assigned' : 'Unassigned until the next generation',
      ),
    ];
  const wanted = [];
  let looked = 0;
  for (const key of free) {
    const view = views.get(key);
    if (view?.wants) wanted.push(view);
    looked += 1;
    if (looked >= LOOKED_UP_MOST) break;
  }
  if (count === 1 && wanted.length === 1) {
    const taker = /** @type {string} */ (wanted[0].wants);
    return obstacleOf(frame, taker)
      ? [untilOf(frame, taker, cast, label)]
      : [h('span', 'Assigned to ', disc(cast, taker), ` ${arrivesBy(frame, taker)}`)];
  }
  if (!wanted.length) return [h('span', 'Waiting for a target')];
  const takers = [...new Set(wanted.map((view) => /** @type {string} */ (view.wants)))];
  const held = takers.filter((taker) => obstacleOf(frame, taker));
  if (held.length === 1 && takers.length === 1) return [untilOf(frame, held[0], cast, label)];
  const owners = `their target ${isShare(frame) ? 'readers' : 'owners'}`;
  const requests = takers.some((taker) => rejoins(frame, taker)) ? 'heartbeats and JoinGroups' : 'heartbeats';
  return [
    h('span', held.length ? `Until ${owners} are ready for them` : `Assigned at the next ${requests} of ${owners}`),
  ];
}

/** @param {Frame} frame @param {string} member @param {Cast} cast @param {(key: string) => string} label */
function untilOf(frame, member, cast, label) {
  if (obstacleOf(frame, member) === 'removed') return h('span', `Until ${NEXT_TARGET}`);
  return h('span', 'Until ', disc(cast, member), untilWhat(frame, member, label));
}
