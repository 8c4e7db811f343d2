/** The page of help: the keys of a board, of the table that the board has. */

import { showKeys } from '../panels/palette.js';

showKeys();
document.documentElement.dataset.alive = 'true';
