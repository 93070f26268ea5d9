/** `last` of a page: where the next one begins, opaque to clients. */
import { PlatformError } from '@platform/base';

/** The last row of the page before. */
export interface PagePlace {
  readonly capturedUs: number;
  readonly id: string;
}

export function pageToken({ capturedUs, id }: PagePlace): string {
  return Buffer.from(JSON.stringify([capturedUs, id])).toString('base64url');
}

/** Undefined: from the beginning. @throws invalid_argument */
export function readPageToken(token: string): PagePlace | undefined {
  if (token === '') return undefined;
  const [capturedUs, id] = parse(token);
  if (typeof capturedUs === 'number' && Number.isSafeInteger(capturedUs) && typeof id === 'string')
    return { capturedUs, id };
  throw new PlatformError(
    'invalid_argument',
    `last: expected what an earlier page answered, found ${JSON.stringify(token.slice(0, 64))}`,
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
