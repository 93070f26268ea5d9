/**
 * Treats rows in memory as files with facts only. Queries that only need counts of rows and times need not read these rows or wait for a
 * file.
 */
import { getOrInsert } from '@platform/base';
import { dayText } from '../../../../reading-codec/capture-day.ts';
import type { SeriesFacts, TimeFacts } from '../../files/file-facts.ts';
import type { Tail, TailRows } from '../../hot/tail.ts';
import type { ScanRequest } from '../../messages.ts';
import { noTime } from '../../rows/row-buffer.ts';
import { keptRows, type Wanted } from '../choose-pushdown.ts';
import type { OpenFile } from '../open-files.ts';
import { seriesValues } from '../series/series-values.ts';
import { type FactsGroup, inMemory } from './group-facts.ts';

/** Adds either all of a tail's rows to the groups or none; returns whether it did. */
export function addTail(group: FactsGroup, found: TailRows, wanted: Wanted, request: ScanRequest): boolean {
  // Deleted rows are not among those found.
  const undeleted = { ...request, deletes: [] };
  const kept = tailFiles(found, request, group.asksTimes).flatMap((file) => {
    const of = keptRows(file, wanted, undeleted);
    return of === undefined ? [] : [{ file, kept: of }];
  });
  if (!kept.every(({ file, kept: of }) => group.takes(file, of))) return false;
  for (const { file, kept: of } of kept) group.add(file, of);
  return true;
}

/** Creates one file for each capture day. */
function tailFiles(
  { tail: { rows, series }, rows: found }: TailRows,
  { vocabulary }: ScanRequest,
  withTimes: boolean,
): OpenFile[] {
  const days = new Map<number, Map<number, Gathered>>();
  const columns = [rows.timeReceived, rows.timeRequested, rows.timeSynced];
  const newGathered = (): Gathered => ({ rows: 0, times: columns.map(() => ({ min: null, max: null, missing: 0 })) });
  for (const row of found) {
    const ofDay = getOrInsert(days, rows.captureDay[row] as number, () => new Map());
    const gathered = getOrInsert(ofDay, rows.series[row] as number, newGathered);
    gathered.rows++;
    if (withTimes) for (const [i, time] of gathered.times.entries()) addTime(time, columns[i]?.[row] as bigint);
  }
  return Array.from(days, ([day, ofDay]): OpenFile => {
    const captureDay = dayText(day);
    const facts = {
      rows: 0,
      leaves: [],
      bytes: 0,
      hasPaths: false,
      series: Array.from(ofDay, ([number, gathered]): SeriesFacts => {
        const [received, requested, synced] = gathered.times as [TimeFacts, TimeFacts, TimeFacts];
        const own = series[number] as Tail['series'][number];
        return { ...own, rows: gathered.rows, dataBytes: 0, firstRow: 0, received, requested, synced };
      }),
    };
    return {
      path: inMemory,
      captureDay,
      facts,
      values: seriesValues(facts, captureDay, vocabulary),
      allowed: new Uint8Array(facts.series.length).fill(1),
      wanted: [...facts.series.keys()],
    };
  });
}

interface Gathered {
  rows: number;
  readonly times: { -readonly [Name in keyof TimeFacts]: TimeFacts[Name] }[];
}

function addTime(facts: Gathered['times'][number], time: bigint): void {
  if (time === noTime) facts.missing++;
  else {
    if (facts.min === null || time < facts.min) facts.min = time;
    if (facts.max === null || time > facts.max) facts.max = time;
  }
}
