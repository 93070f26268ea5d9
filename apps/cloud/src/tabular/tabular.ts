/** The tabular store as the rest of the cloud sees it. */
import type { Batch, Plan, Scope } from '@platform/query';
import type { RepeatedUpload } from '../ingest/accept-upload.ts';
import type { RowFilter } from './catalog/row-filter.ts';
import type { DeleteRows } from './deletion/delete-rows.ts';
import type { Removed } from './deletion/remove-deleted.ts';
import type { Damage } from './integrity/read-damage.ts';
import type { Measure } from './query/measure.ts';

export interface QueryRequest {
  readonly plan: Plan;
  /** What the caller may see; rows outside are never read. */
  readonly scope: Scope;
  /** How component_type reads (D2). */
  readonly vocabulary: 'core' | 'rdk';
  /** Cancels the query: DuckDB is interrupted, the executor stopped. */
  readonly signal?: AbortSignal;
  /** How long the query may take, waiting included. Default: settings.deadlineMs. */
  readonly deadlineMs?: number;
  /** False: nothing is left to DuckDB but scope and times; the answer is the same. For tests. Default: true. */
  readonly pushDown?: boolean;
  /**
   * The plan sees the times of rows as they came, int64 microseconds instead of dates (D35), and asks for none outside these
   * ranges. Nothing else is left to DuckDB then. Default: dates.
   */
  readonly exactTimes?: RowFilter['times'];
  /** The answer says what was pushed, opened and read. Default: false. */
  readonly explain?: boolean;
  /** What the platform asks for its own needs counts towards no limit (D26). */
  readonly unmetered?: true;
}

export interface QueryResult extends Batch {
  /** Logical bytes of the rows that the query looked at: what it is metered with (D26). */
  readonly scannedBytes: number;
  /** T of the snapshot: rows of later positions are not in the answer. */
  readonly upTo: number;
  readonly elapsedMs: number;
  /** If it was asked for. */
  readonly explain?: QueryExplain;
}

/** What was done with a query, for people and tests. */
export interface QueryExplain {
  readonly pushDown: boolean;
  /** Sealed files of the organization. */
  readonly filesListed: number;
  /** … of which the catalog says that they hold no row of the path and times. */
  readonly filesSkipped: number;
  /** … whose rows were read. The others' footers said enough. */
  readonly filesRead: number;
  /** By what was done, in order: sealed files that are alike, then hot rows. */
  readonly sources: readonly SourceExplain[];
  /** Parts of the query that run once, over what all sources gave. */
  readonly later: readonly NotPushed[];
  /** Rows that were handed to the executor, or groups of them. */
  readonly rows: number;
  readonly scannedBytes: number;
  readonly elapsedMs: number;
}

export interface SourceExplain {
  /**
   * group, top: DuckDB groups, or sorts and limits. documents: the rows that `top` found over all files, where it read none of their
   * documents. columns: fields out of columns. rows: whole rows. newest: the newest row of each series, out of the footers. facts: groups
   * out of what footers say of series. hot: rows that are not sealed yet.
   */
  readonly does: 'group' | 'top' | 'documents' | 'columns' | 'rows' | 'newest' | 'facts' | 'hot';
  /** Parts of the query that are done where the rows lie, in the user's words. Conditions may be looked at once more afterwards. */
  readonly pushed: readonly string[];
  /** Parts that could be done there and are not. */
  readonly notPushed?: readonly NotPushed[];
  readonly files: number;
  readonly statements: number;
  /** What came of it: rows, or groups of rows. */
  readonly rows: number;
}

export interface NotPushed {
  /** In the user's words, as what is pushed. */
  readonly part: string;
  readonly why: string;
}

export interface TabularLag {
  /** T: last committed position of the log. */
  readonly committedPosition: number;
  /** Last position whose rows queries can read. */
  readonly loadedPosition: number;
  /** S: last position whose rows are in listed files. */
  readonly sealedPosition: number;
  /** Bytes of rows that are loaded and not in listed files. */
  readonly unsealedBytes: number;
  /** A query was asked within the last seconds: it waits for all that is committed to be loaded. */
  readonly isAsked: boolean;
}

export interface TabularStatus extends TabularLag {
  readonly process: 'starting' | 'running' | 'restarting' | 'stopped';
  readonly processId: number | undefined;
  /** Times that the child died and was started again. */
  readonly restarts: number;
  readonly hotRows: number;
  readonly hotBytes: number;
  readonly files: number;
  readonly fileRows: number;
  readonly fileBytes: number;
  /** Log rows that could not be loaded, wholly or in part, since this start (I8). */
  readonly damagedRows: number;
  /** Readings that are missing from rows that were loaded in part. */
  readonly damagedReadings: number;
  readonly runningQueries: number;
}

export interface Tabular extends AsyncDisposable {
  /** Removes unlisted files, starts the child, begins to replay (S, T] (I14). Queries asked before it ends wait. */
  start(): Promise<void>;
  /**
   * Every row that was acknowledged before the call, that the scope shows and that the plan keeps (I7).
   * Throws deadline_exceeded, canceled, resource_exhausted (answer too large, memory, monthly limit), unavailable (child died twice),
   * and what the query itself gets wrong.
   */
  query(request: QueryRequest): Promise<QueryResult>;
  /** Deletes rows of an organization for good; answers how many. Throws as `query` does, and then nothing is deleted. */
  readonly deleteRows: DeleteRows;
  /** Which readings of an upload were deleted since they were stored, by people and not by retention (D13). */
  deletedReadings(upload: RepeatedUpload): Promise<readonly boolean[]>;
  /** Takes deleted rows off the disk, those that retention deleted as well. Seldom and one organization after the other. */
  removeDeleted(organizationId: string, signal: AbortSignal): Promise<Removed>;
  /** Logical bytes of the rows of some paths by capture day, as far as they are sealed; deleted rows count until they are removed. */
  readonly bytesByDay: Measure['bytesByDay'];
  /** Ids of organizations that have files. */
  organizations(): Promise<readonly string[]>;
  /** S. */
  sealedPosition(): number;
  /** Calls the listener after each flip with the new S: the log may be truncated further. */
  onSealed(listener: (position: number) => void): Disposable;
  lag(): TabularLag;
  /** Calls the listener after rows were loaded, and after S moved. */
  onProgress(listener: () => void): Disposable;
  status(): Promise<TabularStatus>;
  /** Seals what is hot now, whatever its size; answers S. */
  seal(): Promise<number>;
  /**
   * Loads what is not sealed from the log again, where a row came back that was passed by; answers S as of then. Queries wait
   * meanwhile.
   */
  loadAgain(): Promise<number>;
  /** Files that are damaged or missing, and what is wrong with the catalog's rows. */
  damage(): Promise<Damage>;
  /** Kills the child as a crash would; it is started again. For operators and fault tests. */
  killProcess(): void;
}
