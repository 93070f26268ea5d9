/** All functions that convert values or measure them. */

import type { Functions } from '../definition.ts';
import { conversion } from './convert.ts';
import { dataSize } from './data-size.ts';
import { hashedKey } from './hashed-key.ts';

export const conversions: Functions = { ...conversion, ...dataSize, ...hashedKey };
