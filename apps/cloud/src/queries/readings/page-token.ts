/** The `last` of a page: the place behind its last reading, opaque to clients. */
import { PlatformError } from '@platform/base';
import type { Place } from './reading-page.ts';

const form = /^(-?\d{1,15})\.(\d{1,9})$/;

export function pageToken({ ms, skip }: Place): string {
  return Buffer.from(`${ms}.${skip}`).toString('base64url');
}

/** @throws invalid_argument */
export function readPageToken(last: string): Place | undefined {
  if (last === '') return undefined;
  const [, ms, skip] = form.exec(Buffer.from(last.slice(0, 64), 'base64url').toString('latin1')) ?? [];
  if (ms !== undefined && skip !== undefined && last.length <= 64) return { ms: Number(ms), skip: Number(skip) };
  throw new PlatformError(
    'invalid_argument',
    `last: expected what an answer said as its \`last\`, found ${JSON.stringify(last.slice(0, 64))}; leave it out for the first page`,
  );
}
