import type { Output } from './output.ts';

const sameAgainMs = 60_000;

/** Reports why nothing can be shown: a new reason at once, the same one at most once a minute. @param nowMs of a monotonic clock */
export function createTroubleReporter(output: Pick<Output, 'logged'>, nowMs: () => number): (caught: unknown) => void {
  const saidAt = new Map<string, number>();
  return (caught) => {
    const text = caught instanceof Error ? caught.message : String(caught);
    const now = nowMs();
    if (now - (saidAt.get(text) ?? Number.NEGATIVE_INFINITY) < sameAgainMs) return;
    if (saidAt.size >= 100) saidAt.clear();
    saidAt.set(text, now);
    output.logged('platform', `cannot show the readings, trying again: ${text}`);
  };
}
