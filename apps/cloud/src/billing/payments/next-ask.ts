/** When a provider is asked again about what is pending: after 5 s, then at growing intervals, at most an hour, for as long as it takes. */

export const firstAskMs = 5_000;
const maxAskMs = 3_600_000;

/** Whole ms. @param createdMs since when it is pending */
export function nextAskMs(createdMs: number, nowMs: number): number {
  return Math.floor(nowMs + Math.min(maxAskMs, Math.max(firstAskMs, (nowMs - createdMs) / 10)));
}
