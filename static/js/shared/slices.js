/** Long work in short slices, so that a key is answered and a frame drawn in between. */

/** Half a frame: the other half is for drawing. */
export const SLICE_MS = 8;

const channel = typeof MessageChannel === 'undefined' ? null : new MessageChannel();
/** @type {(() => void)[]} */
const waiting = [];
if (channel) {
  channel.port1.onmessage = () => waiting.shift()?.();
  // In Node an open port would keep a test's process alive.
  /** @type {any} */ (channel.port1).unref?.();
}

/** After what else waits: unlike a timeout it does not wait any longer than that. @returns {Promise<void>} */
export function nextTask() {
  if (!channel || typeof document === 'undefined')
    return new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(0);
  });
}

/**
 * Calls `work` repeatedly until it returns that it is done.
 *
 * @param {(over: () => boolean) => boolean} work goes on until it is done (true) or `over()` returns that the slice is (false)
 * @param {() => boolean} [wanted] false: nobody waits for it any more
 * @returns {Promise<boolean>} whether it was done
 */
export async function inSlices(work, wanted = () => true) {
  for (;;) {
    const end = performance.now() + SLICE_MS;
    if (work(() => performance.now() >= end)) return true;
    await nextTask();
    if (!wanted()) return false;
  }
}
