/** Inside $group MongoDB has its own codes for some errors. */

import { QueryError } from './query-error.ts';

/** The code elsewhere, where the error arises, and the code in $group. */
const codes: readonly (readonly [number, RegExp, number])[] = [
  [2, /\$divide$/, 4848401],
  [16610, /\$mod$/, 4848403],
  [40400, /^$|\$mergeObjects$/, 5911200],
  [5787902, /(?:)/, 7548606],
  [5787903, /(?:)/, 7548606],
  [5787908, /(?:)/, 7548606],
];

/** The same error with its code in $group; anything but a query error is unchanged. */
export function withGroupCode(error: unknown): unknown {
  if (!(error instanceof QueryError)) return error;
  const found = codes.find(([code, path]) => code === error.code && path.test(error.path ?? ''));
  return found === undefined ? error : new QueryError(found[2], error.reason, { path: error.path ?? '$group' });
}
