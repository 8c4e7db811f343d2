/** The page of a report: its button that prints. */

import { part } from '../shared/dom.js';

part('print').addEventListener('click', () => print());
document.documentElement.dataset.alive = 'true';
