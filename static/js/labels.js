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

  /** Gives each topic its shape, once there are several. @param {Iterable<string>} topics */
  meet(topics) {
    const sorted = [...topics].sort();
    this.#shapes = new Map(
      sorted.length > 1 ? sorted.map((topic, index) => [topic, SHAPES[index % SHAPES.length]]) : [],
    );
  }

  /** @param {string} topic its name, or its id where the source has no name */
  topic(topic) {
    return TOPIC_ID.test(topic) ? `${topic.slice(0, 6)}…` : topic;
  }

  /** @param {string} topic */
  shape(topic) {
    return this.#shapes.get(topic) ?? '';
  }

  /** The name with its shape: `● foo`. @param {string} topic */
  marked(topic) {
    const shape = this.shape(topic);
    return shape ? `${shape} ${this.topic(topic)}` : this.topic(topic);
  }

  /** A partition in a sentence: `foo-2`. @param {string} key */
  partition(key) {
    const cut = key.lastIndexOf('-');
    return `${this.topic(key.slice(0, cut))}${key.slice(cut)}`;
  }
}
