/** Addresses of the inspector: what follows `/inspect`. */

/** Of the inspector, with a record of a timeline open. @param {string} timeline @param {number} entry */
export const searchOf = (timeline, entry) => `?timeline=${encodeURIComponent(timeline)}&entry=${entry}`;

/** The same, compared with another record of it. @param {string} timeline @param {number} entry @param {number} against */
export const searchOfTwo = (timeline, entry, against) => `${searchOf(timeline, entry)}&against=${against}`;
