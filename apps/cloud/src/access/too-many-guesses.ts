/** The error for an attempt that must wait, used by every way to sign in: RESOURCE_EXHAUSTED with the waiting time. */
import { PlatformError, resourceExhausted } from '@platform/base';
import type { Guess, GuessLimit } from './guess-limit.ts';

/** The cause of that error. Each way to sign in can report the waiting time in its own form. */
export class RetryAfter extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`retry after ${Math.ceil(waitMs / 1_000)} s`);
    this.waitMs = waitMs;
  }
}

/** The message is the same whether or not the id exists. */
export function tooManyGuesses(waitMs: number): PlatformError {
  const seconds = Math.ceil(waitMs / 1_000);
  return resourceExhausted(
    `sign-in: too many failed attempts from this address; try again after ${seconds} s`,
    new RetryAfter(waitMs),
  );
}

/**
 * Returns the result of `prove` for a right guess.
 * @param wrong the error for a wrong one
 * @throws resource_exhausted while the guesser must wait
 */
export async function proven<T>(
  guesses: GuessLimit,
  guess: Guess,
  prove: () => Promise<T | undefined>,
  wrong: () => PlatformError,
): Promise<T> {
  const attempt = await guesses.attempt(guess, prove);
  if (attempt.outcome === 'right') return attempt.value;
  throw attempt.outcome === 'wait' ? tooManyGuesses(attempt.waitMs) : wrong();
}

/** The `retry-after` header, if the error requires a wait. */
export function retryAfterHeader(caught: unknown): Record<string, string> {
  if (!(caught instanceof PlatformError)) return {};
  const waitMs = caught.cause instanceof RetryAfter ? caught.cause.waitMs : caught.retryAfterMs;
  return waitMs === undefined ? {} : { 'retry-after': `${Math.ceil(waitMs / 1_000)}` };
}
