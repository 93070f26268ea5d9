/** When a provider is next asked about a pending operation: after 5 s, then at growing intervals of at most an hour, without limit. */

export const firstPollMs = 5_000;
const maxPollMs = 3_600_000;

/** Whole ms. @param createdMs time since which it is pending */
export function nextPollMs(createdMs: number, nowMs: number): number {
  return Math.floor(nowMs + Math.min(maxPollMs, Math.max(firstPollMs, (nowMs - createdMs) / 10)));
}
