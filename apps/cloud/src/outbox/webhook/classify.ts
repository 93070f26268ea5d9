/** Classifies the answer to a webhook, and decides when to retry (D23). */
import type { SendResult } from '../channel.ts';

/** 2xx is accepted; 408, 425, 429 and 5xx may be temporary; everything else, including redirects, is final. */
export function outcomeOf(status: number): SendResult['outcome'] {
  if (status >= 200 && status < 300) return 'accepted';
  if (status >= 500 || status === 408 || status === 425 || status === 429) return 'retryLater';
  return 'rejected';
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
/** Waits before attempts 1 to 8. */
const waitsMs = [0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];

export const maxAttempts: number = waitsMs.length;

/** From the first attempt to the last: 27 h 35 min and 5 s. */
export const scheduleMs: number = waitsMs.reduce((sum, ms) => sum + ms, 0);

/**
 * Milliseconds to wait after `made` attempts, ±20 %; undefined: there is no further attempt.
 * @param retryAfterMs requested by the target; it can lengthen the wait up to twice its nominal length, at most 24 h
 */
export function waitMs(
  made: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number | undefined {
  const nominal = waitsMs[made];
  if (nominal === undefined) return undefined;
  const jittered = nominal * (0.8 + 0.4 * random());
  const asked = Math.min(retryAfterMs ?? 0, 2 * nominal, 24 * hour);
  return Math.round(Math.max(jittered, asked));
}

/** Reads `Retry-After`: seconds or an HTTP date. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * second;
  // Date.parse alone accepts almost anything as a date.
  const at = /^[A-Z][a-z]+, .* GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
