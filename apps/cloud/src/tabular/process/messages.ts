/** Messages between the cloud's main process and its tabular child: numbers, strings, byte arrays and plain objects only. */
import type { Batch, Scope } from '@platform/query';
import type { LogDamage } from '../../ingest/log/log.ts';
import type { ArrivalsAsked } from '../arrivals/arrived-rows.ts';
import type { Delete, HeldTimes, PathRule, RowFilter } from '../catalog/row-filter.ts';
import type { PathSets } from '../catalog/series.ts';
import type { TabularSettings } from '../settings.ts';
import type { SourceExplain } from '../tabular.ts';
import type { LogSource } from './log/read-log.ts';
import type { Failure } from './query/query-failure.ts';

export interface FileRef {
  readonly file: string;
  readonly format: number;
  /** UTC day of all its rows, "YYYY-MM-DD". */
  readonly captureDay: string;
  /** Times of its rows. Absent: unknown, or this child already knows them. */
  readonly timeReceived?: HeldTimes;
  /** Expected bytes according to the catalog. Absent: this child already knows them. */
  readonly expected?: ExpectedBytes;
}

/** Checksums computed when a file is written (checksum-file.ts). */
export interface FileChecksum {
  /** Hexadecimal. */
  readonly sha256: string;
  /** CRC-32 of each MiB, 8 hexadecimal digits each, in order. */
  readonly blockCrcs: string;
}

export type ExpectedBytes = FileChecksum & { readonly bytes: number };

/** A file that is written, synced and renamed. It belongs to the store as soon as the catalog lists it. Times in microseconds. */
export interface SealedFile extends FileRef {
  readonly organizationId: string;
  readonly rows: number;
  readonly logicalBytes: number;
  readonly fileBytes: number;
  readonly checksum: FileChecksum;
  readonly minPosition: number;
  readonly maxPosition: number;
  readonly minTimeReceived: number | null;
  readonly maxTimeReceived: number | null;
  readonly minTimeRequested: number | null;
  readonly maxTimeRequested: number | null;
  readonly pathSets: PathSets;
}

/** One query over one snapshot: files ∪ hot(after, upTo] − deletes (I7). */
export interface ScanRequest {
  readonly scope: Scope;
  readonly filter: RowFilter;
  readonly vocabulary: 'core' | 'rdk';
  /** Rows show times as int64 microseconds instead of dates; nothing that reads times may then be pushed down. Default: false. */
  readonly exactTimes?: boolean;
  /** The answer consists of blocks of these rows (arrived-rows.ts), in any order, and the plan is not run. */
  readonly arrivals?: ArrivalsAsked;
  readonly files: readonly FileRef[];
  readonly deletes: readonly Delete[];
  /** S of the snapshot. */
  readonly after: number;
  /** T of the snapshot. */
  readonly upTo: number;
}

export interface QueryMessage extends ScanRequest {
  readonly kind: 'query';
  readonly id: number;
  /** Encoded by encodePlan. */
  readonly plan: Uint8Array;
  readonly deadlineMs: number;
  readonly maxResultBytes: number;
  /** False: only series and times are pushed down. */
  readonly pushDown: boolean;
  /** False: nobody asks for the scanned bytes, which are then 0. Counting them takes longer than answering from facts. */
  readonly isMetered: boolean;
}

export type FoundFile =
  | { readonly kind: 'right' }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'missing' }
  /** The file cannot be read at present; nothing is known. */
  | { readonly kind: 'unknown'; readonly reason: string };

export type Rewritten =
  | { readonly kind: 'files'; readonly files: readonly SealedFile[] }
  /** The deletions cover no row of the files: nothing was written. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly reason: string };

export type ToChild =
  | {
      readonly kind: 'init';
      readonly logSource: LogSource;
      readonly parquetDir: string;
      /** S: the child replays the rows after it. */
      readonly sealed: number;
      readonly settings: TabularSettings;
    }
  | { readonly kind: 'committed'; readonly position: number }
  | QueryMessage
  | { readonly kind: 'cancel'; readonly id: number }
  /** The catalog lists what the child sealed; no snapshot needs hot rows up to dropUpTo. */
  | { readonly kind: 'switched'; readonly sealed: number; readonly dropUpTo: number }
  /** Write the rows of these files, all of one organization and day, into one file, without rows covered by the deletions. */
  | {
      readonly kind: 'rewrite';
      readonly id: number;
      readonly files: readonly FileRef[];
      readonly deletes: readonly Delete[];
    }
  /** Asks how many bytes the rows of these paths take in these files. */
  | {
      readonly kind: 'measure';
      readonly id: number;
      readonly files: readonly FileRef[];
      readonly rules: readonly PathRule[];
    }
  /** Read this file completely and slowly, and compare it with its checksums. */
  | { readonly kind: 'scrub'; readonly id: number; readonly file: FileRef; readonly bytesPerSecond: number }
  /** These files were replaced by others, and no snapshot reads them any more. */
  | { readonly kind: 'removed'; readonly files: readonly string[] }
  /** Seal the current hot rows, whatever their size. */
  | { readonly kind: 'seal' };

export type FromChild =
  | {
      readonly kind: 'loaded';
      readonly position: number;
      readonly hotRows: number;
      readonly hotBytes: number;
      /** Bytes of the hot rows after S; the other rows are kept for open snapshots. */
      readonly unsealedBytes: number;
    }
  | {
      readonly kind: 'damaged';
      readonly position: number;
      readonly reason: string;
      /** Number of missing readings of the row; null: the whole row. */
      readonly readings: number | null;
    }
  /** Rows of the log are damaged or missing; sent before any later row is loaded. */
  | { readonly kind: 'lost'; readonly damage: LogDamage }
  | { readonly kind: 'sealed'; readonly upTo: number; readonly files: readonly SealedFile[] }
  /** Answers `measure`: for each file the bytes by rule; null when a file no longer exists or cannot be read. */
  | { readonly kind: 'measured'; readonly id: number; readonly bytes: readonly (readonly number[])[] | null }
  /** Answers `rewrite`. */
  | { readonly kind: 'rewritten'; readonly id: number; readonly result: Rewritten }
  | { readonly kind: 'rows'; readonly id: number; readonly batch: Batch }
  | {
      readonly kind: 'done';
      readonly id: number;
      readonly scannedBytes: number;
      readonly sources: readonly SourceExplain[];
    }
  | ({ readonly kind: 'failed'; readonly id: number; readonly scannedBytes: number } & Failure)
  /** The snapshot is older than the data that this child holds, or a listed file has changed: open a new one. */
  | {
      readonly kind: 'stale';
      readonly id: number;
      /** A file that does not exist: it was merged, or is lost. */
      readonly missing?: string;
    }
  /** A new finding about a file. */
  | { readonly kind: 'checked'; readonly file: string; readonly found: FoundFile }
  /** Answers `scrub`. */
  | { readonly kind: 'scrubbed'; readonly id: number; readonly found: FoundFile }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly message: string;
      readonly fields: Record<string, unknown>;
    };
