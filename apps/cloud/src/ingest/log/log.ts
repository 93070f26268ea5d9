/**
 * The ingest log as the rest of the cloud sees it: it contains exactly the acknowledged uploads (I1–I6, I12).
 */
import type { VerifiedRow } from '../losses/row-checksums.ts';

export interface LogEntry {
  readonly partId: string;
  /**
   * The stream that the sender numbers: 16 random bytes from a machine-server, or the upload's own hash if the sender gave no identity
   * (D13).
   */
  readonly stream: Uint8Array;
  readonly seq: number;
  /** Lowest seq of the stream that may still be sent (I6); 0: not given. Never above `seq`. */
  readonly lowWaterMark: number;
  /** Hash of what the sender sent, without identity: equal for every retry of an upload, whatever the cloud adds. */
  readonly sha256: Uint8Array;
  /** An encoded LoggedUpload in memory of its own. Never changed after the append, because followers get the same bytes. */
  readonly batch: Uint8Array;
  readonly fileId: string;
  /** Wall ms until which a repeat is recognised even without a low-water mark (D13); absent: until the low-water mark passes it. */
  readonly settleUntil?: number;
  /** Position of the first copy, if its content has been deleted since; this entry is then stored in its place (D13). */
  readonly replaces?: number;
  /** Path of the payload in the blob store; it is added to the log's list of blobs in the same commit as the entry (I4). */
  readonly blobPath?: string;
}

export interface AppendResult {
  /** appended: new. repeated: the same upload is already in the log. settled: the sender has declared it done (I6). */
  readonly outcome: 'appended' | 'repeated' | 'settled';
  /** Position of the first copy; null when settled. */
  readonly position: number | null;
  /** File id of the first copy; when settled, the entry's own. */
  readonly fileId: string;
  /** For repeated uploads: settleUntil of the first copy. */
  readonly settleUntil?: number | null;
}

export interface LogRow {
  readonly position: number;
  readonly partId: string;
  /** platform.ingest.v1.LoggedUpload; empty where there is `damage`. */
  readonly batch: Uint8Array;
  /** An acknowledged upload is lost: there is nothing to process, and the reader skips it. */
  readonly damage?: LogDamage;
}

/** Acknowledged uploads that can no longer be read, because a row was changed or rows are missing. */
export interface LogDamage {
  readonly first: number;
  readonly last: number;
  /** Parts that the uploads belong to; null: unknown. */
  readonly parts: readonly string[] | null;
  readonly reason: string;
}

/**
 * The reader that missed the upload: the table `readings`, the list of pictures and files, triggers, or the meter of usage. If the end of
 * the log is lost: the log.
 */
export type LossIn = 'readings' | 'binary data' | 'triggers' | 'usage' | 'log';

export interface LogLoss extends LogDamage {
  readonly lossIn: LossIn;
  readonly foundMs: number;
  /** When a person accepted the loss; null: not accepted, and affected queries fail. */
  readonly acceptedMs: number | null;
}

/** Limits of one read; the first row is returned whatever its size. */
export interface ReadLimit {
  readonly rows: number;
  readonly bytes: number;
}

export interface DamagedRow {
  readonly position: number;
  readonly reason: string;
}

export interface IngestLog extends AsyncDisposable {
  /**
   * Resolves after the commit that covers the entry has reached the disk (I2). Throws already_exists when the key holds another upload
   * (which stays unchanged; this copy is kept aside), resource_exhausted when the disk is full, and unavailable when the log is closing or
   * has failed; in the last two cases nothing was stored.
   */
  append(entry: LogEntry): Promise<AppendResult>;
  /** Whether the upload need not be stored: it is in the log, or its sender has settled it (I5, I6). */
  isKnown(key: Pick<LogEntry, 'partId' | 'stream' | 'seq'>): Promise<boolean>;
  /** Rows after a position in order, as many as fit but at least one; a prefix of the committed rows (I3). */
  read(after: number, limit: ReadLimit): Promise<readonly LogRow[]>;
  /** Like `read`, for a follower that has processed everything up to `after`: a missing row is returned as a damaged one. */
  follow(after: number, limit: ReadLimit): Promise<readonly LogRow[]>;
  /** Last committed position; 0 when nothing was ever appended. Truncation does not change it. */
  lastPosition(): number;
  /** Calls the listener soon after each commit that appended, with the last position; commits in quick succession are combined. */
  onCommit(listener: (position: number) => void): Disposable;
  /**
   * Deletes at most `maxRows` undamaged rows at positions ≤ `upTo`, oldest first, and only a few if they are large; returns how many,
   * 0 if there are none (I12).
   */
  truncate(upTo: number, maxRows: number): Promise<number>;
  /** Records that a follower could not read a row: it is skipped, and kept until a person decides (I8). */
  markDamaged(position: number, reason: string): Promise<void>;
  damaged(): Promise<readonly DamagedRow[]>;
  /** Records a loss permanently, once; the rest of the row is kept. Visible in `losses` at once, on the disk when it resolves. */
  recordLoss(lossIn: LossIn, damage: LogDamage): Promise<void>;
  losses(): readonly LogLoss[];
  /** Accepts all losses on behalf of a person: queries then answer without the lost uploads. Returns how many losses there were. */
  acceptLosses(): Promise<number>;
  /**
   * Restores a lost row from a backup of this installation; its checksums prove that it is genuine. Followers that have passed it do not
   * return to it. False: the remains of the row in the log belong to another row; nothing was changed.
   */
  restoreRow(row: VerifiedRow): Promise<boolean>;
  /** Ends all losses at this position. */
  endLosses(position: number): Promise<void>;
  /** Continues after this position: positions up to it were assigned before, although the log does not know them (I3). */
  resumeAfter(position: number): Promise<void>;
  /** Bytes of the batches that have not been truncated. */
  retainedBytes(): number;
  /**
   * Bytes of the log's file that truncation has freed: appends use them before they take more of the disk. 0 if the log is in another
   * store.
   */
  reusableBytes(): Promise<number>;
  /** Whether a blob belongs to an acknowledged upload, or to one that is kept aside. */
  hasBlob(path: string): Promise<boolean>;
  /** Records that blobs were deleted and no longer belong to any upload. */
  forgetBlobs(paths: readonly string[]): Promise<void>;
}
