/** All functions of strings. */

import type { Functions } from '../definition.ts';
import { regex } from './regex.ts';
import { string } from './string.ts';
import { stringSearch } from './string-search.ts';
import { stringTrim } from './string-trim.ts';
import { substring } from './substring.ts';

export const strings: Functions = { ...regex, ...string, ...stringSearch, ...stringTrim, ...substring };
