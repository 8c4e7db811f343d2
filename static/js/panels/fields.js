/**
 * Fields of requests, responses and records as rows of text. Pure.
 *
 * @import {Frame} from '../types'
 * @typedef {{name: string, value: string, note: string, title: string, depth: number}} Field
 */

/** The coordinator's record types by key type, as Kafka's schemas name them. @type {{[type: number]: string}} */
const RECORDS = {
  0: 'LegacyOffsetCommit',
  1: 'OffsetCommit',
  2: 'GroupMetadata',
  3: 'ConsumerGroupMetadata',
  4: 'ConsumerGroupPartitionMetadata',
  5: 'ConsumerGroupMemberMetadata',
  6: 'ConsumerGroupTargetAssignmentMetadata',
  7: 'ConsumerGroupTargetAssignmentMember',
  8: 'ConsumerGroupCurrentMemberAssignment',
  10: 'ShareGroupMemberMetadata',
  11: 'ShareGroupMetadata',
  12: 'ShareGroupTargetAssignmentMetadata',
  13: 'ShareGroupTargetAssignmentMember',
  14: 'ShareGroupCurrentMemberAssignment',
  15: 'ShareGroupStatePartitionMetadata',
  17: 'StreamsGroupMetadata',
  19: 'StreamsGroupMemberMetadata',
  20: 'StreamsGroupTargetAssignmentMetadata',
  21: 'StreamsGroupTargetAssignmentMember',
  22: 'StreamsGroupCurrentMemberAssignment',
  23: 'StreamsGroupTopology',
  16: 'ConsumerGroupRegularExpression',
};

/** Kafka's names (`Errors`) of the codes that a group's requests are answered with. @type {{[code: number]: string}} */
const ERRORS = {
  [-1]: 'UNKNOWN_SERVER_ERROR',
  0: 'NONE',
  14: 'COORDINATOR_LOAD_IN_PROGRESS',
  15: 'COORDINATOR_NOT_AVAILABLE',
  16: 'NOT_COORDINATOR',
  22: 'ILLEGAL_GENERATION',
  23: 'INCONSISTENT_GROUP_PROTOCOL',
  24: 'INVALID_GROUP_ID',
  25: 'UNKNOWN_MEMBER_ID',
  27: 'REBALANCE_IN_PROGRESS',
  29: 'TOPIC_AUTHORIZATION_FAILED',
  30: 'GROUP_AUTHORIZATION_FAILED',
  35: 'UNSUPPORTED_VERSION',
  42: 'INVALID_REQUEST',
  68: 'NON_EMPTY_GROUP',
  69: 'GROUP_ID_NOT_FOUND',
  79: 'MEMBER_ID_REQUIRED',
  81: 'GROUP_MAX_SIZE_REACHED',
  82: 'FENCED_INSTANCE_ID',
  110: 'FENCED_MEMBER_EPOCH',
  111: 'UNRELEASED_INSTANCE_ID',
  112: 'UNSUPPORTED_ASSIGNOR',
  113: 'STALE_MEMBER_EPOCH',
  128: 'INVALID_REGULAR_EXPRESSION',
};

/** The states of a type 8 or 14 record. */
const MEMBER_STATES = ['STABLE', 'UNREVOKED_PARTITIONS', 'UNRELEASED_PARTITIONS'];

/** The states of a type 22 record, which count from 1. */
const TASK_STATES = ['', 'STABLE', 'UNREVOKED_TASKS', 'UNRELEASED_TASKS'];

/** Longer values are cut; the whole one is in the tooltip. */
const VALUE_MOST = 120;

/** @param {number} type */
export const recordName = (type) => RECORDS[type] ?? `Record of type ${type}`;

/** Items of an array of structures that are written out; a group's record holds all of its members. */
const ITEMS_MOST = 12;

/**
 * Structures within arrays have rows of their own, set in by their depth.
 *
 * @param {{[name: string]: any}} body
 * @param {Frame} frame after the moment
 * @param {'request' | 'response' | 'record'} kind
 * @param {number} [depth]
 * @returns {Field[]}
 */
export function fieldsOf(body, frame, kind, depth = 0) {
  const names = topicNames(frame);
  return Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => {
      if (areStructures(value, names)) {
        const more =
          value.length > ITEMS_MOST
            ? [{ name: '', value: `and ${value.length - ITEMS_MOST} more`, note: '', title: '', depth: depth + 1 }]
            : [];
        return [
          { name, value: String(value.length), note: '', title: '', depth },
          ...value.slice(0, ITEMS_MOST).flatMap((/** @type {any} */ item) => fieldsOf(item, frame, kind, depth + 1)),
          ...more,
        ];
      }
      const whole = written(name, value, names, kind, frame.protocol === 'streams' ? TASK_STATES : MEMBER_STATES);
      return [
        {
          name,
          value: whole.length > VALUE_MOST ? `${whole.slice(0, VALUE_MOST)}…` : whole,
          note: noteOn(name, value, frame, kind),
          title: whole.length > VALUE_MOST ? whole : '',
          depth,
        },
      ];
    });
}

/** @param {any} value @param {Map<string, string>} names */
function areStructures(value, names) {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (item) => item !== null && typeof item === 'object' && !Array.isArray(item) && partitionSet(item, names) === null,
    )
  );
}

/** Topic names by id. @param {Frame} frame @returns {Map<string, string>} */
function topicNames(frame) {
  const names = new Map();
  for (const [name, { id }] of Object.entries(frame.topics ?? {})) if (id) names.set(id, name);
  return names;
}

/** @param {string} name @param {any} value @param {Map<string, string>} names @param {string} kind @param {string[]} states */
function written(name, value, names, kind, states) {
  const plain = lower(name);
  if (value === null)
    return kind === 'record' ? 'null' : /^(topicPartitions|assignment)$/.test(plain) ? 'null (unchanged)' : 'null';
  if (plain === 'errorCode' && ERRORS[value]) return `${value} ${ERRORS[value]}`;
  if (plain === 'state' && kind === 'record' && states[value]) return `${value} ${states[value]}`;
  return text(value, names);
}

/** @param {any} value @param {Map<string, string>} names @returns {string} */
function text(value, names) {
  if (Array.isArray(value)) {
    const sets = value.map((item) => partitionSet(item, names));
    if (value.length && sets.every((set) => set !== null)) return sets.join(', ');
    return `[${value.map((item) => text(item, names)).join(', ')}]`;
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value);
    if (entries.length === 1 && Array.isArray(entries[0][1])) {
      const inner = text(entries[0][1], names);
      return inner === '[]' ? '[]' : inner;
    }
    return `{${entries.map(([key, inner]) => `${key}: ${text(inner, names)}`).join(', ')}}`;
  }
  if (typeof value === 'string') return names.get(value) ?? (value === '' ? '""' : value);
  return String(value);
}

/** `foo [0, 1]` for Kafka's pair of a topic and its partitions. @param {any} item @param {Map<string, string>} names */
function partitionSet(item, names) {
  if (item === null || typeof item !== 'object') return null;
  const fields = new Map(Object.entries(item).map(([name, value]) => [lower(name), value]));
  const partitions = fields.get('partitions');
  const topic =
    fields.get('subtopologyId') ??
    fields.get('topicId') ??
    fields.get('topicName') ??
    fields.get('topic') ??
    fields.get('name');
  if (
    !Array.isArray(partitions) ||
    typeof topic !== 'string' ||
    partitions.some((number) => typeof number !== 'number')
  )
    return null;
  return `${names.get(topic) ?? topic} [${partitions.join(', ')}]`;
}

/** What a reader would have to work out. @param {string} name @param {any} value @param {Frame} frame @param {string} kind */
function noteOn(name, value, frame, kind) {
  if (kind === 'response' && lower(name) === 'memberEpoch' && typeof value === 'number') {
    const group = frame.group_epoch ?? 0;
    if (value > 0 && value < group) return 'still the old epoch';
  }
  return '';
}

/** Schemas begin field names with a capital, JSON of records with a small letter. @param {string} name */
const lower = (name) => name.charAt(0).toLowerCase() + name.slice(1);
