/**
 * Bytes in the address, behind the `#`: nothing of them is sent when the link is opened, only when they are inspected.
 * Pure.
 *
 * @typedef {{kind: string, version: number | null, bytes: string}} Linked bytes as base64
 */

/** Bytes that fit into an address that mail programs and chats do not cut. */
export const LINK_BYTES_MOST = 6000;

/** @param {string} base64 */
const toUrl = (base64) => base64.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');

/** @param {string} text */
const fromUrl = (text) => text.replace(/-/g, '+').replace(/_/g, '/') + '='.repeat((4 - (text.length % 4)) % 4);

/**
 * `#kind=subscription&bytes=AAE…`, twice for two that are compared; null if they are too large for an address.
 *
 * @param {Linked[]} shown
 * @returns {string | null}
 */
export function fragmentOf(shown) {
  const letters = shown.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if ((letters * 3) / 4 > LINK_BYTES_MOST) return null;
  const query = new URLSearchParams();
  for (const { kind, version, bytes } of shown) {
    query.append('kind', version === null ? kind : `${kind}@${version}`);
    query.append('bytes', toUrl(bytes));
  }
  return `#${query}`;
}

/** What an address carries; empty if it carries nothing that can be read. @param {string} hash @returns {Linked[]} */
export function linkedIn(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const kinds = query.getAll('kind');
  return query
    .getAll('bytes')
    .slice(0, 2)
    .filter((text) => /^[A-Za-z0-9_-]+$/.test(text) && text.length % 4 !== 1)
    .map((text, at) => {
      const [kind, version] = (kinds[at] ?? '').split('@');
      return { kind, version: /^\d{1,5}$/.test(version ?? '') ? Number(version) : null, bytes: fromUrl(text) };
    });
}
