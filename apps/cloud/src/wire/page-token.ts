/** Page tokens for lists of numbered rows: the number of the last row shown. */
import { invalidArgument } from '@platform/base';

/** Undefined: the first page. @throws invalid_argument if the operation never returned such a token */
export function readPageToken(token: string | undefined, operation: string): number | undefined {
  if (token === undefined || token === '') return undefined;
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw invalidArgument(
    `${operation}: expected the page token of an earlier answer, found ${JSON.stringify(token.slice(0, 64))}`,
  );
}
