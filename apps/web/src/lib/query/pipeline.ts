/** Time ranges and pipelines. */

export type Row = Readonly<Record<string, unknown>>;

/** Ranges that can be chosen, in ms; 0: all time. */
export const ranges = [
  { name: 'Last 15 minutes', ms: 15 * 60_000 },
  { name: 'Last hour', ms: 3_600_000 },
  { name: 'Last 24 hours', ms: 86_400_000 },
  { name: 'Last 7 days', ms: 7 * 86_400_000 },
  { name: 'All time', ms: 0 },
] as const;

/** The start of a time range; undefined: all time. */
export function sinceOf(rangeMs: number, nowMs: number): string | undefined {
  return rangeMs === 0 ? undefined : new Date(nowMs - rangeMs).toISOString();
}

/** The stage that is put before a pipeline; undefined: none. */
export function rangeStage(rangeMs: number, nowMs: number): Row | undefined {
  const since = sinceOf(rangeMs, nowMs);
  return since === undefined ? undefined : { $match: { time_received: { $gte: { $date: since } } } };
}

/** @throws Error that says where the text is not a pipeline */
export function stagesOf(text: string): readonly unknown[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value;
  throw new Error('A pipeline is a list of stages in brackets, such as [{"$limit": 10}].');
}
