/** The page of all groups, the gravest first. */

import { part } from '../shared/dom.js';
import { troublesTable } from '../troubles/table.js';

troublesTable(JSON.parse(part('troubles-data').textContent ?? 'null'));
document.documentElement.dataset.alive = 'true';
