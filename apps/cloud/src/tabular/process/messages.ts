/** What the cloud's main process and its tabular child say to each other; numbers, strings, byte arrays and plain objects only. */

import type { Batch, Scope } from '@platform/query';
import type { LogDamage } from '../../ingest/log/log.ts';
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
  /** Of its rows. Absent: unknown, or this child was told before. */
  readonly timeReceived?: HeldTimes;
  /** What the catalog says that its bytes are. Absent: this child was told before. */
  readonly expected?: ExpectedBytes;
}

/** What is known of a file's bytes when it is written (checksum-file.ts). */
export interface FileChecksum {
  /** Hexadecimal. */
  readonly sha256: string;
  /** CRC-32 of each MiB, 8 hexadecimal digits each, in order. */
  readonly blockCrcs: string;
}

/** null: a version before wrote the file. */
export type ExpectedBytes = { readonly bytes: number } & { readonly [Field in keyof FileChecksum]: string | null };

/** A file that is written, synced and renamed, and counts as soon as the catalog lists it. Times in microseconds. */
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
  /** Rows show times as int64 microseconds, not as dates; then nothing may be pushed that looks at times. Default: false. */
  readonly exactTimes?: boolean;
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
  /** As encodePlan writes it. */
  readonly plan: Uint8Array;
  readonly deadlineMs: number;
  readonly maxResultBytes: number;
  /** False: nothing is pushed but series and times. */
  readonly pushDown: boolean;
}

export type FoundFile =
  /** `checksum`: of a file that had none. */
  | { readonly kind: 'right'; readonly checksum?: FileChecksum }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'missing' }
  /** It could not be read now; nothing is known. */
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
      /** S: the child replays what is after it. */
      readonly sealed: number;
      readonly settings: TabularSettings;
    }
  | { readonly kind: 'committed'; readonly position: number }
  | QueryMessage
  | { readonly kind: 'cancel'; readonly id: number }
  /** The catalog lists what the child sealed; hot rows up to dropUpTo are not needed by anyone. */
  | { readonly kind: 'flipped'; readonly sealed: number; readonly dropUpTo: number }
  /** Write these files' rows, all of one organization and day, into one, without those that the deletions cover. */
  | {
      readonly kind: 'rewrite';
      readonly id: number;
      readonly files: readonly FileRef[];
      readonly deletes: readonly Delete[];
    }
  /** How many bytes do the rows of these paths take in these files? */
  | {
      readonly kind: 'measure';
      readonly id: number;
      readonly files: readonly FileRef[];
      readonly rules: readonly PathRule[];
    }
  /** Read this file completely, slowly, and compare it with its checksums. */
  | { readonly kind: 'scrub'; readonly id: number; readonly file: FileRef; readonly bytesPerSecond: number }
  /** These files were replaced by others, and no snapshot reads them any more. */
  | { readonly kind: 'removed'; readonly files: readonly string[] }
  /** Seal what is hot now, whatever its size. */
  | { readonly kind: 'seal' };

export type FromChild =
  | {
      readonly kind: 'loaded';
      readonly position: number;
      readonly hotRows: number;
      readonly hotBytes: number;
      /** Of the hot rows' bytes, those after S; the others are kept for snapshots that are open. */
      readonly unsealedBytes: number;
    }
  | {
      readonly kind: 'damaged';
      readonly position: number;
      readonly reason: string;
      /** Readings of the row that are missing; null: the whole row. */
      readonly readings: number | null;
    }
  /** Rows of the log are damaged or missing; said before anything that comes after them is loaded. */
  | { readonly kind: 'lost'; readonly damage: LogDamage }
  | { readonly kind: 'sealed'; readonly upTo: number; readonly files: readonly SealedFile[] }
  /** Answers `measure`: for each file the bytes by rule; null when a file is not there any more, or cannot be read. */
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
  /** The snapshot is older than what this child holds, or what it lists changed meanwhile: open a new one. */
  | {
      readonly kind: 'stale';
      readonly id: number;
      /** A file that is not there: merged meanwhile, or lost. */
      readonly missing?: string;
    }
  /** What was found of a file, whenever that is news. */
  | { readonly kind: 'checked'; readonly file: string; readonly found: FoundFile }
  /** Answers `scrub`. */
  | { readonly kind: 'scrubbed'; readonly id: number; readonly found: FoundFile }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly message: string;
      readonly fields: Record<string, unknown>;
    };
