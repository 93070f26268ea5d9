import { PlatformError } from '@platform/base';

/** The version before which a page begins; undefined: from the newest. @throws invalid_argument for a token that no answer held */
export function versionToken(token: string | undefined, operation: string): number | undefined {
  if (token === undefined || token === '') return undefined;
  if (/^[1-9]\d{0,8}$/.test(token)) return Number(token);
  throw new PlatformError(
    'invalid_argument',
    `${operation}: expected the page token of an earlier answer, found ${JSON.stringify(token.slice(0, 64))}`,
  );
}
