/** All functions of numbers. */

import type { Functions } from '../definition.ts';
import { arithmetic } from './arithmetic.ts';
import { bits } from './bits.ts';
import { logarithms } from './logarithms.ts';
import { rand } from './rand.ts';
import { rounding } from './rounding.ts';
import { trigonometry } from './trigonometry.ts';

export const numbers: Functions = { ...arithmetic, ...bits, ...logarithms, ...rand, ...rounding, ...trigonometry };
