/**
 * The rows of one organization and capture day in a Parquet file. A sealed file is one slice; a hot file has one for each organization and
 * day in it.
 */
import type { FileFacts, LeafFacts, SeriesFacts } from './file-facts.ts';

export interface Slice {
  readonly path: string;
  /** UTC day of its rows, "YYYY-MM-DD". */
  readonly captureDay: string;
  readonly rows: number;
  /** Number of its first series in the file. */
  readonly first: number;
  /** Its series, by number from `first` on. */
  readonly series: readonly SeriesFacts[];
  readonly leaves: readonly LeafFacts[];
  /** Facts of the slice as if it were the whole file; series keep the file's numbers. */
  readonly facts: FileFacts;
}

/** A sealed file as a single slice. */
export function wholeFile(path: string, captureDay: string, facts: FileFacts): Slice {
  const { rows, series, leaves } = facts;
  return { path, captureDay, rows, first: 0, series, leaves, facts };
}

/** @param fileSeries number of series in the file */
export function createSlice(slice: Omit<Slice, 'rows' | 'facts'>, fileSeries: number): Slice {
  const { first, series, leaves } = slice;
  const rows = series.reduce((sum, each) => sum + each.rows, 0);
  let facts: FileFacts | undefined;
  return {
    ...slice,
    rows,
    get facts() {
      if (facts !== undefined) return facts;
      // Other slices' series are replaced by one of this slice's series without rows, so that no query reads rows of others.
      const none = { ...(series[0] as SeriesFacts), rows: 0, dataBytes: 0 };
      const all = new Array<SeriesFacts>(fileSeries).fill(none);
      for (const [i, each] of series.entries()) all[first + i] = each;
      const bytes = 800 * series.length + 400 * leaves.length;
      facts = { rows, series: all, leaves, bytes, hasPaths: false };
      return facts;
    },
  };
}

export function organizationOf({ series }: Slice): string | undefined {
  return series[0]?.path.organization_id;
}

/** Key of the slice's organization and day. */
export function dayKey(slice: Slice): string {
  return JSON.stringify([organizationOf(slice), slice.captureDay]);
}

/** Slices grouped by organization and day, in order of first occurrence. */
export function slicesByDay(slices: readonly Slice[]): Slice[][] {
  return [...Map.groupBy(slices, dayKey).values()];
}

export function rowsOf(slices: readonly Slice[]): number {
  return slices.reduce((sum, { rows }) => sum + rows, 0);
}

/** BSON bytes of the rows' `data`. */
export function dataBytesOf(slices: readonly Slice[]): number {
  return slices.reduce((sum, { series }) => sum + series.reduce((own, each) => own + each.dataBytes, 0), 0);
}

/** Average bytes of a row's document. */
export function averageBytes(slices: readonly Slice[]): number {
  const rows = rowsOf(slices);
  return rows === 0 ? 0 : dataBytesOf(slices) / rows;
}
