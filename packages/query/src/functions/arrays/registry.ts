/** All functions of arrays and of sets. */

import type { Functions } from '../definition.ts';
import { array } from './array.ts';
import { arrayRange } from './array-range.ts';
import { arraySearch } from './array-search.ts';
import { arraySort } from './array-sort.ts';
import { arrayZip } from './array-zip.ts';
import { set } from './set.ts';

export const arrays: Functions = { ...array, ...arrayRange, ...arraySearch, ...arraySort, ...arrayZip, ...set };
