/** A group of the laboratory as it was shared: the answers are in the page, and nothing can be changed. */

import { Banners } from '../live/banners.js';
import { part } from '../shared/dom.js';
import { listen } from '../shared/keys.js';
import { boardIn, SheetView } from '../laboratory/sheet-view.js';
import { watchLink } from '../source/link.js';
import { openSealed } from '../source/sealed.js';
import { replaceAddress } from '../shared/url.js';

async function begin() {
  const { changed, needed } = await openSealed(document);
  const { sheet, board } = await needed('laboratory');
  const view = new SheetView({
    open: boardIn(location.hash) ?? board - 1,
    onOpen: (opened) => replaceAddress(`${location.pathname}${location.search}#${opened + 1}`),
  });
  view.show(sheet);
  listen(view.keys());
  if (changed.length) new Banners(part('banners')).changed(changed);
  watchLink({ page: document, onEnd: () => {} });
  document.documentElement.dataset.alive = 'true';
}

begin();
