/** Inside of $group MongoDB has codes of its own for what other stages refuse with other ones. */

import { QueryError } from './query-error.ts';

/** Elsewhere, where it arises, and in $group. */
const codes: readonly (readonly [number, RegExp, number])[] = [
  [2, /\$divide$/, 4848401],
  [16610, /\$mod$/, 4848403],
  [40400, /^$|\$mergeObjects$/, 5911200],
  [5787902, /(?:)/, 7548606],
  [5787903, /(?:)/, 7548606],
  [5787908, /(?:)/, 7548606],
];

/** The same error with the code that it has in $group; what is no error of a query as it is. */
export function withGroupCode(error: unknown): unknown {
  if (!(error instanceof QueryError)) return error;
  const found = codes.find(([code, path]) => code === error.code && path.test(error.path ?? ''));
  return found === undefined ? error : new QueryError(found[2], error.reason, { path: error.path ?? '$group' });
}
