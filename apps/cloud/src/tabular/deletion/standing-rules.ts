/**
 * Rules that hide rows without an explicit deletion (I10). Retention hides old capture days from the standard store. The hot store consists
 * of the same rows, limited to configured methods in a rolling window. Pure; evaluated again for every snapshot.
 */
import { dayMs, hourMs } from '@platform/base';
import { seriesColumns } from '@platform/query';
import { type Delete, type DeletePredicate, isAmong, type PathRule, type RowFilter } from '../catalog/row-filter.ts';
import { excludePaths } from './coverage.ts';

export interface StandingRules {
  /** Rows of these paths are hidden once their capture day is before the day. */
  readonly expired: readonly { readonly paths: PathRule; readonly beforeDay: string }[];
  /** Content of the hot store: rows of these paths whose time_received is within the last storedHours. */
  readonly recent: readonly { readonly paths: PathRule; readonly storedHours: number }[];
}

export type StandingRulesOf = (organizationId: string, nowMs: number) => Promise<StandingRules>;

/** Standing rules also apply to future positions. */
const everyPosition = Number.MAX_SAFE_INTEGER;

/** Deletions that apply to a query of a source: those in the catalog, and the standing rules at this moment. */
export function deletesFor(
  source: 'readings' | 'hot',
  listed: readonly Delete[],
  rules: StandingRules,
  nowMs: number,
): Delete[] {
  if (source === 'readings') return [...listed, ...expiredRows(rules)];
  const windows = rules.recent.flatMap(({ paths, storedHours }) => {
    const fromMs = nowMs - storedHours * hourMs;
    // The second rule hides rows whose clock was ahead, by the day of their upload (D24).
    return [
      { paths, receivedBefore: Math.ceil(fromMs * 1_000) },
      { paths, beforeDay: dayOf(fromMs) },
    ];
  });
  const outside: DeletePredicate[] = [{ except: rules.recent.map(({ paths }) => paths) }, ...windows];
  return [
    ...listed.filter(({ predicate }) => predicate.sparesHot !== true),
    ...outside.map((predicate) => ({ predicate, upTo: everyPosition })),
  ];
}

/** Which rows of a capture day can be removed from the disk: a method's rows stay while the hot store may show any of that day. */
export function removable(
  listed: readonly Delete[],
  rules: StandingRules,
  captureDay: string,
  nowMs: number,
): Delete[] {
  const endMs = Date.parse(`${captureDay}T00:00:00Z`) + dayMs;
  const held = rules.recent.filter(({ storedHours }) => endMs > nowMs - storedHours * hourMs).map(({ paths }) => paths);
  return [...listed, ...expiredRows(rules)].map(({ predicate, upTo }) => ({
    predicate: predicate.sparesHot === true ? excludePaths(predicate, held) : predicate,
    upTo,
  }));
}

/** Only deletions that can affect rows kept by the filter, so that a query about one part need not carry a whole fleet's rules. */
export function deletesConcerning(deletes: readonly Delete[], { columns }: RowFilter): Delete[] {
  return deletes.flatMap(({ predicate, upTo }) => {
    const paths: Record<string, readonly string[]> = {};
    for (const column of seriesColumns) {
      const values = predicate.paths?.[column];
      if (values === undefined) continue;
      const wanted = columns[column]?.in;
      const both = wanted === undefined ? values : intersection(values, wanted);
      if (both.length === 0) return [];
      paths[column] = both;
    }
    return [{ predicate: { ...predicate, paths }, upTo }];
  });
}

function expiredRows({ expired }: StandingRules): Delete[] {
  return expired.map(({ paths, beforeDay }) => ({
    predicate: { paths, beforeDay, sparesHot: true },
    upTo: everyPosition,
  }));
}

function intersection(values: readonly string[], wanted: readonly string[]): readonly string[] {
  const [few, many] = wanted.length < values.length ? [wanted, values] : [values, wanted];
  return few.filter((value) => isAmong(value, many));
}

function dayOf(ms: number): string {
  // Clamped to the earliest day that can be formatted.
  return new Date(Math.max(ms, -62_135_596_800_000)).toISOString().slice(0, 10);
}
