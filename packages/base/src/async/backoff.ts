/** Waits between attempts. */

export interface Backoff {
  /** Wait before the second attempt. Default 200 ms. */
  readonly firstMs?: number;
  /** The longest wait, before jitter. Default 60 s. */
  readonly maxMs?: number;
  /** Each wait varies at random by up to ± this share, so that clients do not all retry at once. Default 0.2. */
  readonly jitter?: number;
}

/** Milliseconds to wait after `failures` (1, 2, …) failed attempts in a row: doubled each time, capped, jittered. */
export function backoffMs(failures: number, options: Backoff = {}, random: () => number = Math.random): number {
  const { firstMs = 200, maxMs = 60_000, jitter = 0.2 } = options;
  const nominal = Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return nominal * (1 + jitter * (2 * random() - 1));
}
