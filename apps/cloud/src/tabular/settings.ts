/** Limits of the tabular store, with their defaults. */

export interface TabularSettings {
  /** Hot rows are sealed into files above this many. Default 1,000,000. */
  readonly sealRows: number;
  /** Or above this many bytes of readings. Default 256 MB. */
  readonly sealBytes: number;
  /** Or when the oldest hot row has existed for this long. Default 10 min. */
  readonly sealAgeMs: number;
  /** More rows than this in memory are written to columns before a query reads them, unless it only counts. Default 8,192. */
  readonly tailRows: number;
  /** Or more bytes of readings. Default 2 MiB. */
  readonly tailBytes: number;
  /** Rows are written to a file of fresh rows at this many: about as much as DuckDB writes as one row group. Default 32,768. */
  readonly hotFileRows: number;
  /** Or at this many bytes of readings. Default 8 MiB. */
  readonly hotFileBytes: number;
  /**
   * For a sort with a limit, statements may read about this many bytes of documents that the answer does not need. If more would be read,
   * the sort keys are read first. Default 1 MiB.
   */
  readonly topBytes: number;
  /** Memory, in estimated bytes, for partial groups of single files, which repeated queries reuse; 0: none. Default 16 MiB. */
  readonly groupCacheBytes: number;
  /** Only files with at least this many rows per group; for others it would be no faster. Default 64. */
  readonly rowsPerKeptGroup: number;
  /** A file holds about this many bytes of readings before compression. Default 128 MB. */
  readonly fileBytes: number;
  /**
   * And a row group about this many: a writer holds about seven copies of a group, plus its texts once more for each text column. Default
   * 32 MB.
   */
  readonly rowGroupBytes: number;
  /**
   * This many files of an organization and day, each below a quarter of fileBytes, are merged into one. The same number applies to small
   * files of fresh rows. Default 16.
   */
  readonly mergeFiles: number;
  /** DuckDB's memory limit for queries. Default 640 MiB. */
  readonly memoryBytes: number;
  /** DuckDB's memory limit for writing files. Default 640 MiB. */
  readonly writerMemoryBytes: number;
  /** Heap of a thread that runs one query; a query that needs more is refused. Default 512 MiB. */
  readonly executorMemoryBytes: number;
  /** Memory of the child process above which it ends queries. Default: no limit. */
  readonly processBytes: number;
  /** DuckDB's threads. Default 2. */
  readonly threads: number;
  /** A query without a deadline ends after this. Default 60 s. */
  readonly deadlineMs: number;
  /** An answer above this is refused. Default 64 MiB. */
  readonly maxResultBytes: number;
  /** Queries that run at the same time, and as many again that only count; others wait. Default 4. */
  readonly concurrentQueries: number;
  /** Queries of one organization that may wait; more are refused. Default 100. */
  readonly waitingQueries: number;
  /** Whether files are written only while no query runs, and queries wait for that. Default false. */
  readonly takesTurns: boolean;
  /** If a cancelled query has not ended after this time, the child is killed. Default 5 s. */
  readonly killAfterMs: number;
  /** Each sealed file is read completely once in this period and compared with its checksum. Default 7 days; 0: never. */
  readonly scrubPeriodMs: number;
  /** Reading speed of the scrub. Default 4 MB/s: 2.4 TB in 7 days. */
  readonly scrubBytesPerSecond: number;
}

export const defaultTabularSettings: TabularSettings = {
  sealRows: 1_000_000,
  sealBytes: 256_000_000,
  sealAgeMs: 600_000,
  tailRows: 8_192,
  tailBytes: 2 << 20,
  hotFileRows: 32_768,
  hotFileBytes: 8 << 20,
  topBytes: 1 << 20,
  groupCacheBytes: 16 << 20,
  rowsPerKeptGroup: 64,
  fileBytes: 128_000_000,
  rowGroupBytes: 32_000_000,
  mergeFiles: 16,
  memoryBytes: 640 << 20,
  writerMemoryBytes: 640 << 20,
  executorMemoryBytes: 512 << 20,
  processBytes: Number.POSITIVE_INFINITY,
  threads: 2,
  deadlineMs: 60_000,
  maxResultBytes: 64 << 20,
  concurrentQueries: 4,
  waitingQueries: 100,
  takesTurns: false,
  killAfterMs: 5_000,
  scrubPeriodMs: 7 * 86_400_000,
  scrubBytesPerSecond: 4_000_000,
};

/** The defaults fit into this much memory for the whole cloud (conformance/src/memory). */
const fittingBytes = 2 * 1024 ** 3;
/** What the cloud takes besides answering queries: two processes without work, uploads, caches. */
const besidesBytes = 256 * 1024 ** 2;
/** DuckDB and a thread that runs a query do nothing useful with less than a tenth of the defaults. */
const leastShare = 0.1;
/** The step in which rows are loaded has up to half of that. */
const leastHotFileBytes = 2 << 20;
/** Of all memory: without it, rows of usual sizes could not be sorted (writer.ts), and would stay in the log. */
const writerShare = 0.4;
/** Of all memory: the other process takes up to 200 MB, and a query may take another 80 MB until it has ended. */
const processShare = 0.4;

/**
 * Settings for a cloud whose memory is limited, so that a query that needs too much of it gets an error, instead of the system ending its
 * process and with it all other queries. Files become smaller, because the memory for sorting one grows with it.
 *
 * @param memoryBytes of the whole cloud; undefined: not limited
 */
export function settingsWithin(memoryBytes: number | undefined): Partial<TabularSettings> {
  if (memoryBytes === undefined || memoryBytes >= fittingBytes) return {};
  const share = Math.max(leastShare, (memoryBytes - besidesBytes) / (fittingBytes - besidesBytes));
  const shared = (value: number): number => Math.floor(value * share);
  const all = defaultTabularSettings;
  const concurrentQueries = Math.max(1, shared(all.concurrentQueries));
  return {
    memoryBytes: shared(all.memoryBytes),
    writerMemoryBytes: Math.min(all.writerMemoryBytes, Math.floor(memoryBytes * writerShare)),
    executorMemoryBytes: shared(all.executorMemoryBytes),
    processBytes: Math.floor(memoryBytes * processShare),
    groupCacheBytes: shared(all.groupCacheBytes),
    hotFileRows: shared(all.hotFileRows),
    hotFileBytes: Math.max(leastHotFileBytes, shared(all.hotFileBytes)),
    sealBytes: shared(all.sealBytes),
    fileBytes: shared(all.fileBytes),
    rowGroupBytes: shared(all.rowGroupBytes),
    concurrentQueries,
    // There is not enough for several queries, and therefore not for a query and a writer either.
    takesTurns: concurrentQueries === 1,
    threads: Math.max(1, shared(all.threads)),
    maxResultBytes: Math.max(16 << 20, shared(all.maxResultBytes)),
  };
}
