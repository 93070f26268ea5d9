import { type Cloud, timestampFromDate } from '@platform/sdk/cloud';
import { type ExportedLine, exportedLine } from './exported-line.ts';
import type { Series } from './find-series.ts';

export interface Range {
  /** Inclusive. */
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly untilMs?: number | undefined;
}

/** The readings of one method, oldest first; those of the same microsecond in upload order. */
export async function* readSeries(
  data: Cloud['data'],
  partId: string,
  { api, name, method }: Series,
  { fromMs, untilMs }: Range,
): AsyncGenerator<ExportedLine> {
  const at = (ms: number | undefined) => (ms === undefined ? undefined : timestampFromDate(new Date(ms)));
  const interval = { start: at(fromMs), end: at(untilMs) };
  const request = { partId, resourceName: name, resourceSubtype: api, methodName: method, interval };
  for await (const one of data.exportTabularData(request, { timeoutMs: 0 })) yield exportedLine(one);
}
