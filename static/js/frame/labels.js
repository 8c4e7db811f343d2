/**
 * How topics and partitions are written: shortened ids where there is no name, and a shape before the name
 * where there are several topics (a hue would mean a member).
 */

const SHAPES = ['●', '■', '▲', '◆', '▼', '★', '⬟', '✚'];

/** A topic id in Kafka's base64 form: sixteen bytes, 22 characters. */
const TOPIC_ID = /^[A-Za-z0-9_-]{22}$/;

export class Labels {
  /** @type {Map<string, string>} */
  #shapes = new Map();

  /** Whether partitions are tasks of subtopologies, as in a streams group. */
  #tasks = false;

  /** Whether partitions have readers, as in a share group, and no owner. */
  #shared = false;

  /** What is counted: tasks in a streams group, and in a cluster of Kafka Connect, whose connectors have the place of topics. */
  #noun = 'partition';

  /**
   * @param {string | null | undefined} protocol of the group; nothing changes while it is not known
   * @param {string | null} [type] the protocol type of a classic group
   */
  follow(protocol, type) {
    if (!protocol) return;
    this.#tasks = protocol === 'streams';
    if (type !== undefined || protocol !== 'classic')
      this.#noun = this.#tasks || type === 'connect' ? 'task' : 'partition';
    this.#shared = protocol === 'share';
  }

  /** What those are called that have a partition, and what they do with it. */
  get having() {
    if (this.#tasks) return { who: 'owner', says: 'owns it', none: 'Unassigned' };
    return this.#shared
      ? { who: 'reader', says: 'reads it', none: 'No reader' }
      : { who: 'owner', says: 'owns it', none: 'Unassigned' };
  }

  /** Gives each topic its shape, once there are several. @param {Iterable<string>} topics */
  meet(topics) {
    const sorted = [...topics].sort();
    this.#shapes = new Map(
      sorted.length > 1 ? sorted.map((topic, index) => [topic, SHAPES[index % SHAPES.length]]) : [],
    );
  }

  /** @type {Map<string, string>} */
  #former = new Map();

  /** Topics that are not there any more, by their id. @param {import('../types').Frame['topics'] | undefined} topics */
  remember(topics) {
    for (const [id, topic] of Object.entries(topics ?? {})) if (topic.was) this.#former.set(id, topic.was);
  }

  /** @param {string} topic its name, or its id where the source has no name */
  topic(topic) {
    const was = this.#former.get(topic);
    if (was) return `old ${was}`;
    return TOPIC_ID.test(topic) ? `${topic.slice(0, 6)}…` : topic;
  }

  /** @param {string} topic */
  shape(topic) {
    return this.#shapes.get(topic) ?? '';
  }

  /** The name with its shape: `● foo`; a subtopology's is but a number. @param {string} topic */
  marked(topic) {
    const shape = this.shape(topic);
    const name = this.#tasks ? `subtopology ${topic}` : this.topic(topic);
    return shape ? `${shape} ${name}` : name;
  }

  /** What is before a partition's number: `foo-`, and `0_` before a task's. @param {string} topic */
  prefix(topic) {
    return `${this.topic(topic)}${this.#tasks ? '_' : '-'}`;
  }

  /** A partition in a sentence: `foo-2`; a task as Kafka Streams writes it: `0_2`. @param {string} key */
  partition(key) {
    const cut = key.lastIndexOf('-');
    return `${this.prefix(key.slice(0, cut))}${key.slice(cut + 1)}`;
  }

  /** How many, of what is counted: `3 tasks`. @param {number} count */
  counted(count) {
    return `${count} ${this.#noun}${count === 1 ? '' : 's'}`;
  }
}
