/**
 * The report of an import: what was found and what was skipped, to be copied or kept as a file.
 *
 * @import {Detail} from './types'
 */

import { h, part } from '../shared/dom.js';
import { toast } from '../shared/toast.js';

/** @param {Detail} detail */
const reportText = (detail) =>
  JSON.stringify(
    {
      timelines: detail.timelines.map(({ id, group, protocol, entries, first_ms, last_ms, gaps }) => ({
        id,
        group,
        protocol,
        entries,
        first_ms,
        last_ms,
        gaps,
      })),
      records: detail.records,
      times: detail.times,
      engine: detail.engine,
    },
    null,
    2,
  );

/** @param {() => Detail} now the import as it is by now */
export function wireReport(now) {
  part('copy-report').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(reportText(now()));
      toast('The report is in the clipboard');
    } catch {
      toast('The browser did not allow it');
    }
  });
  part('report').addEventListener('click', () => {
    const link = /** @type {HTMLAnchorElement} */ (
      h('a', {
        href: URL.createObjectURL(new Blob([reportText(now())], { type: 'application/json' })),
        download: `import-${now().id}.json`,
      })
    );
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
