/** The `last` of a page: the place after its last reading, opaque to clients. */
import { invalidArgument } from '@platform/base';
import type { Place } from './reading-page.ts';

/** `u`: the time is in microseconds. */
const form = /^u(-?\d{1,18})\.(\d{1,9})$/;

export function pageToken({ time, skip }: Place): string {
  return Buffer.from(`u${time}.${skip}`).toString('base64url');
}

/** @throws invalid_argument */
export function readPageToken(last: string): Place | undefined {
  if (last === '') return undefined;
  const [, time, skip] = form.exec(Buffer.from(last.slice(0, 64), 'base64url').toString('latin1')) ?? [];
  if (time !== undefined && skip !== undefined && last.length <= 64) return { time: BigInt(time), skip: Number(skip) };
  throw invalidArgument(
    `last: expected the \`last\` of an earlier answer, found ${JSON.stringify(last.slice(0, 64))}; omit it for the first page`,
  );
}
