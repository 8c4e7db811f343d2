/** Errors in words. Pure. */

/** @param {unknown} error @param {string} [otherwise] where it has no message */
export const messageOf = (error, otherwise = '') => (error instanceof Error ? error.message : otherwise);
