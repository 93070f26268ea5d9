/** The line that says how many lines of the queue were dropped, and from which time. */
import type { LogLine } from '@platform/base';

export interface Dropped {
  readonly lines: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export function mergeDropped(a: Dropped | undefined, b: Dropped): Dropped {
  if (a === undefined) return b;
  return { lines: a.lines + b.lines, fromMs: Math.min(a.fromMs, b.fromMs), toMs: Math.max(a.toMs, b.toMs) };
}

export function droppedLine({ lines, fromMs, toMs }: Dropped): LogLine {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  const what = lines === 1 ? '1 line was' : `${lines} lines were`;
  const message = `${what} dropped between ${from} and ${to}: the queue for the cloud was full`;
  return { timeMs: toMs, level: 'warn', logger: 'cloud-link', message, fields: { lines, from, to } };
}

/** Reads such a line back. */
export function droppedOf({ timeMs, fields }: LogLine): Dropped {
  const { lines, from } = fields;
  return { lines: Number(lines), fromMs: Date.parse(String(from)), toMs: timeMs };
}

/** The number of lines lost with this one: a line about dropped lines stands for those that it counts. */
export function linesIn({ logger, fields: { lines, from, to } }: LogLine): number {
  const isReport = logger === 'cloud-link' && from !== undefined && to !== undefined;
  return isReport && typeof lines === 'number' ? lines : 1;
}
