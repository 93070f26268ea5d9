/** Numbers as users type them. */

/** @param what the option or argument, for the message. @returns undefined if it was not given. @throws invalid_argument */
export function wholeNumber(text: unknown, what: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(String(text))) return Number(text);
  throw invalidArgument(`${what}: expected a whole number from 0, found "${String(text)}"`);
}

/** A limit, which is at least 1. @param what as for `wholeNumber`. @throws invalid_argument, also if it was not given */
export function limitOf(text: unknown, what: string): number {
  const limit = wholeNumber(text, what) ?? 0;
  if (limit > 0) return limit;
  throw invalidArgument(`${what}: expected a whole number from 1, found "0"`);
}

import { invalidArgument } from '@platform/base/refusals';
