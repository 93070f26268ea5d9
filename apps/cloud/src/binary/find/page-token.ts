/** The start of the next page, opaque to clients. */
import { invalidArgument } from '@platform/base';

/** The last row of the previous page. */
export interface PagePlace {
  /** The sort key of pages, before the id. */
  readonly at: number;
  readonly id: string;
}

export function pageToken({ at, id }: PagePlace): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

/** Undefined: from the beginning. @param field for the error text @throws invalid_argument */
export function readPageToken(token: string, field: string): PagePlace | undefined {
  if (token === '') return undefined;
  const [at, id] = parse(token);
  if (typeof at === 'number' && Number.isSafeInteger(at) && typeof id === 'string') return { at, id };
  throw invalidArgument(
    `${field}: expected the value from an earlier page, found ${JSON.stringify(token.slice(0, 64))}`,
  );
}

function parse(token: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(token.slice(0, 400), 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
