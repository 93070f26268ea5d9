/** The tabular store as the rest of the cloud sees it. */

import type { Batch, Plan, Scope } from '@platform/query';
import type { RepeatedUpload } from '../ingest/accept-upload.ts';
import type { ArrivalsAsked } from './arrivals/arrived-rows.ts';
import type { ReadArrivals } from './arrivals/read-arrivals.ts';
import type { CatalogTotals } from './catalog/read-catalog.ts';
import type { RowFilter } from './catalog/row-filter.ts';
import type { DeleteRows } from './deletion/delete-rows.ts';
import type { Removed } from './deletion/remove-deleted.ts';
import type { Damage } from './integrity/read-damage.ts';
import type { Measure } from './query/measure.ts';

export interface QueryRequest {
  readonly plan: Plan;
  /** What the caller may see; rows outside the scope are never read. */
  readonly scope: Scope;
  /** Vocabulary of component_type in the answer (D2). */
  readonly vocabulary: 'core' | 'rdk';
  /** Cancels the query: DuckDB is interrupted and the executor is stopped. */
  readonly signal?: AbortSignal;
  /** How long the query may take, including the time in the queue. Default: settings.deadlineMs. */
  readonly deadlineMs?: number;
  /** False: only scope and times are pushed down to DuckDB; the answer is the same. For tests. Default: true. */
  readonly pushDown?: boolean;
  /**
   * The plan gets the stored times of rows, int64 microseconds instead of dates (D35), and needs no times outside these ranges. Nothing
   * else is then pushed down to DuckDB. Default: dates.
   */
  readonly exactTimes?: RowFilter['times'];
  /** The answer lists what was pushed down, opened and read. Default: false. */
  readonly explain?: boolean;
  /** The answer is blocks of rows (arrived-rows.ts) instead of documents; the plan has no stages. */
  readonly arrivals?: { readonly filter: RowFilter; readonly asked: ArrivalsAsked };
  /** The platform's own queries count towards no limit, and their bytes are not counted (D26). */
  readonly unmetered?: true;
}

export interface QueryResult extends Batch {
  /** Logical bytes of the rows that the query examined; these are metered (D26). */
  readonly scannedBytes: number;
  /** T of the snapshot: rows at later positions are not in the answer. */
  readonly upTo: number;
  readonly elapsedMs: number;
  /** What the organization has used in its month, including this query, and its limit (D26); absent: the query counts towards no limit. */
  readonly month?: { readonly usedBytes: number; readonly limitBytes: number };
  /** The query reads the hot store, and the organization has no capture method configured for it. */
  readonly isHotUnconfigured?: true;
  /** Present if requested. */
  readonly explain?: QueryExplain;
}

/** How a query was executed, for people and tests. */
export interface QueryExplain {
  readonly pushDown: boolean;
  /** Sealed files of the organization. */
  readonly filesListed: number;
  /** … that hold no row of the path and times, according to the catalog. */
  readonly filesSkipped: number;
  /** … whose rows were read. For the others, the footers were sufficient. */
  readonly filesRead: number;
  /** One entry per way of reading, in order: sealed files that are read alike, then hot rows. */
  readonly sources: readonly SourceExplain[];
  /** Parts of the query that run once, on the combined output of all sources. */
  readonly later: readonly NotPushed[];
  /** Rows, or groups of rows, passed to the executor. */
  readonly rows: number;
  readonly scannedBytes: number;
  readonly elapsedMs: number;
}

export interface SourceExplain {
  /**
   * group, top: DuckDB groups, or sorts and limits. documents: the rows that `top` found over all files when it read none of their
   * documents. columns: fields from columns. rows: whole rows. newest: the newest row of each series, from the footers. facts: groups from
   * the footers' facts about series. known: groups of files that an earlier query requested. hot: rows that are not yet sealed.
   */
  readonly does: 'group' | 'top' | 'documents' | 'columns' | 'rows' | 'newest' | 'facts' | 'known' | 'hot';
  /** Parts of the query that run where the rows are stored, in the user's words. Conditions may be checked again later. */
  readonly pushed: readonly string[];
  /** Parts that could run there but do not. */
  readonly notPushed?: readonly NotPushed[];
  readonly files: number;
  readonly statements: number;
  /** Rows, or groups of rows, in the output. */
  readonly rows: number;
}

export interface NotPushed {
  /** In the user's words, like `pushed`. */
  readonly part: string;
  readonly why: string;
}

export interface TabularLag {
  /** T: last committed position of the log. */
  readonly committedPosition: number;
  /** Last position whose rows are visible to queries. */
  readonly loadedPosition: number;
  /** S: last position whose rows are in listed files. */
  readonly sealedPosition: number;
  /** Bytes of rows that are loaded but not in listed files. */
  readonly unsealedBytes: number;
  /** A query arrived within the last seconds; it waits until all committed rows are loaded. */
  readonly isAsked: boolean;
}

export interface TabularStatus extends TabularLag, CatalogTotals {
  readonly process: 'starting' | 'running' | 'restarting' | 'stopped';
  readonly processId: number | undefined;
  /** How often the child died and was restarted. */
  readonly restarts: number;
  readonly hotRows: number;
  readonly hotBytes: number;
  /** Log rows that could not be loaded, wholly or in part, since this start (I8). */
  readonly damagedRows: number;
  /** Readings missing from rows that were loaded in part. */
  readonly damagedReadings: number;
  readonly runningQueries: number;
}

export interface Tabular extends AsyncDisposable {
  /** Removes unlisted files, starts the child and begins to replay (S, T] (I14). Queries wait until the replay ends. */
  start(): Promise<void>;
  /**
   * Returns every row acknowledged before the call that is in scope and that the plan keeps (I7).
   * Throws deadline_exceeded, canceled, resource_exhausted (answer too large, memory, monthly limit), unavailable (child died twice), and
   * the query's own errors.
   */
  query(request: QueryRequest): Promise<QueryResult>;
  /** Rows in order of arrival, page by page, for replaying the past. Throws like `query`. */
  readonly arrivals: ReadArrivals;
  /** Permanently deletes rows of an organization; returns how many. Throws like `query`; then nothing is deleted. */
  readonly deleteRows: DeleteRows;
  /** Which readings of an upload people (not retention) have deleted since they were stored (D13). */
  deletedReadings(upload: RepeatedUpload): Promise<readonly boolean[]>;
  /** Removes deleted rows from the disk, including those deleted by retention. To be run rarely, and for one organization at a time. */
  removeDeleted(organizationId: string, signal: AbortSignal): Promise<Removed>;
  /** Logical bytes of the sealed rows of some paths by capture day; deleted rows count until they are removed. */
  readonly bytesByDay: Measure['bytesByDay'];
  /** Ids of organizations that have files. */
  organizations(): Promise<readonly string[]>;
  /** S. */
  sealedPosition(): number;
  /** Calls the listener with the new S after each switch: the log may be truncated further. */
  onSealed(listener: (position: number) => void): Disposable;
  lag(): TabularLag;
  /** Calls the listener after rows were loaded and after S moved. */
  onProgress(listener: () => void): Disposable;
  status(): Promise<TabularStatus>;
  /** Seals the current hot rows, whatever their size; returns S. */
  seal(): Promise<number>;
  /** Seals the current hot rows, without waiting for it. */
  sealSoon(): void;
  /** Loads unsealed rows from the log again, after a skipped row was restored; returns S as of then. Queries wait in the meantime. */
  loadAgain(): Promise<number>;
  /** Damaged or missing files, and problems in the catalog's rows. */
  damage(): Promise<Damage>;
  /** Kills the child as a crash would; it is restarted. For operators and fault tests. */
  killProcess(): void;
}
