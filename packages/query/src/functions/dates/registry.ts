/** All functions of dates. */

import type { Functions } from '../definition.ts';
import { difference } from './date-diff.ts';
import { formatting } from './date-format.ts';
import { assembling } from './date-from-parts.ts';
import { readingDates } from './date-from-string.ts';
import { dateParts } from './date-parts.ts';
import { shifting } from './date-shift.ts';
import { truncation } from './date-trunc.ts';
import { timestamp } from './timestamp.ts';

export const dates: Functions = {
  ...dateParts,
  ...truncation,
  ...difference,
  ...shifting,
  ...assembling,
  ...formatting,
  ...readingDates,
  ...timestamp,
};
