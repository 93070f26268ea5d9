/** All functions of dates by name. */

import type { Eager, Lazy } from '../registry.ts';
import { dateDiff } from './date-diff.ts';
import { dateToIsoString, dateToString } from './date-format.ts';
import { dateFromParts } from './date-from-parts.ts';
import { dateFromString } from './date-from-string.ts';
import { dateParts } from './date-parts.ts';
import { shiftDate } from './date-shift.ts';
import { dateTrunc } from './date-trunc.ts';

export const date: Readonly<Record<string, Eager>> = {
  ...dateParts,
  'agg.dateTrunc': dateTrunc,
  'agg.dateDiff': dateDiff,
  'agg.dateAdd': (...args) => shiftDate('$dateAdd', args),
  'agg.dateSubtract': (...args) => shiftDate('$dateSubtract', args),
  'agg.dateFromParts': (...args) => dateFromParts(false, args),
  'agg.dateFromIsoParts': (...args) => dateFromParts(true, args),
};

export const dateLazy: Readonly<Record<string, Lazy>> = {
  'agg.dateToString': dateToString,
  'agg.dateToIsoString': dateToIsoString,
  'agg.dateFromString': dateFromString,
};
