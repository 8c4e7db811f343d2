/**
 * What has a row: lanes of members, and partitions. Pure.
 *
 * @import {MapLane, MapTopic} from '../types'
 * @import {Entity} from './types'
 */

/** @param {readonly MapLane[]} lanes @returns {Entity[]} in their order */
export const ofLanes = (lanes) =>
  lanes.map((lane) => ({
    key: lane.key,
    name: lane.name,
    also: [...lane.members, lane.client_id ?? '', lane.instance_id ?? ''].filter((one) => one && one !== lane.name),
    host: lane.host,
    rack: lane.rack_id,
    client: lane.client_id,
    topic: null,
    order: lane.order,
  }));

/**
 * @param {readonly MapTopic[]} topics
 * @param {(key: string) => string} label how a partition is written
 * @returns {Entity[]} by the partitions' rows
 */
export function ofTopics(topics, label) {
  /** @type {Entity[]} */
  const entities = [];
  for (const { topic, first_row, partitions } of topics) {
    for (let partition = 0; partition < partitions; partition += 1) {
      const key = `${topic}-${partition}`;
      entities[first_row + partition] = {
        key,
        name: label(key),
        also: [],
        host: null,
        rack: null,
        client: null,
        topic,
        order: first_row + partition,
      };
    }
  }
  return entities;
}
