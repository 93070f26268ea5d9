/** Page tokens of lists whose rows are numbered: the number of the last row shown. */
import { PlatformError } from '@platform/base';

/** Undefined: the first page. @throws invalid_argument when it is not one that the operation gave out */
export function readPageToken(token: string | undefined, operation: string): number | undefined {
  if (token === undefined || token === '') return undefined;
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw new PlatformError(
    'invalid_argument',
    `${operation}: expected the page token of an earlier answer, found ${JSON.stringify(token.slice(0, 64))}`,
  );
}
