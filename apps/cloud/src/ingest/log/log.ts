/**
 * The ingest log as the rest of the cloud sees it: what is in it was acknowledged, what was acknowledged is in it (I1–I6, I12).
 */
import type { VerifiedRow } from '../losses/row-checksums.ts';

export interface LogEntry {
  readonly partId: string;
  /** What the sender counts in: 16 random bytes from a machine-server, or the upload's own hash where the sender gave no identity (D13). */
  readonly stream: Uint8Array;
  readonly seq: number;
  /** Least seq of the stream that may still be sent (I6); 0: not told. Never above `seq`. */
  readonly lowWaterMark: number;
  /** Of what the sender sent, without identity: equal for each retry of an upload, whatever the cloud adds. */
  readonly sha256: Uint8Array;
  /** LoggedUpload, in memory of its own; never changed after append: followers get it as it is. */
  readonly batch: Uint8Array;
  readonly fileId: string;
  /** Wall ms until which a repeat is recognised although no low-water mark will ever settle it (D13); absent: until the low-water mark passes it. */
  readonly settleUntil?: number;
  /** Position of the first copy, when what it brought was deleted since: then this one is stored in its place (D13). */
  readonly replaces?: number;
  /** Path of the payload in the blob store; its row in the log's list of blobs commits together with the entry (I4). */
  readonly blobPath?: string;
}

export interface AppendResult {
  /** appended: new. repeated: the same upload is in the log already. settled: the sender itself said that it is done with (I6). */
  readonly outcome: 'appended' | 'repeated' | 'settled';
  /** Of the first copy; null when settled. */
  readonly position: number | null;
  /** Of the first copy; when settled, the entry's own. */
  readonly fileId: string;
  /** What the first copy came with; of repeated ones. */
  readonly settleUntil?: number | null;
}

export interface LogRow {
  readonly position: number;
  readonly partId: string;
  /** platform.ingest.v1.LoggedUpload; empty where there is `damage`. */
  readonly batch: Uint8Array;
  /** Something that was acknowledged is lost: there is nothing to process, and the reader passes on. */
  readonly damage?: LogDamage;
}

/** Uploads that were acknowledged and cannot be read any more: a row that is not what was written, or rows that are missing. */
export interface LogDamage {
  readonly first: number;
  readonly last: number;
  /** Whose they are; null: not known. */
  readonly parts: readonly string[] | null;
  readonly reason: string;
}

/** What went without the upload: the table `readings`, the list of pictures and files, triggers, or (the end of it being lost) the log. */
export type LossIn = 'readings' | 'binary data' | 'triggers' | 'log';

export interface LogLoss extends LogDamage {
  readonly lossIn: LossIn;
  readonly foundMs: number;
  /** When a person accepted it; null: no one has, and queries that it touches fail. */
  readonly acceptedMs: number | null;
}

/** Of one read; the first row comes whatever its size. */
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
   * Resolves after the commit that covers the entry has reached the disk (I2).
   * Throws already_exists when the key holds another upload (which stays as it is; this copy is kept aside),
   * resource_exhausted when the disk is full, unavailable when the log is closing or has failed: nothing was stored then.
   */
  append(entry: LogEntry): Promise<AppendResult>;
  /** Whether the upload need not be stored: it is in the log, or its sender is done with it (I5, I6). */
  isKnown(key: Pick<LogEntry, 'partId' | 'stream' | 'seq'>): Promise<boolean>;
  /** Rows after a position in order, as many as fit but at least one; a prefix of what is committed (I3). */
  read(after: number, limit: ReadLimit): Promise<readonly LogRow[]>;
  /** As `read`, for who has processed everything up to `after`: a row that is missing comes as a damaged one. */
  follow(after: number, limit: ReadLimit): Promise<readonly LogRow[]>;
  /** Last committed position; 0 when nothing was ever appended. Truncation does not change it. */
  lastPosition(): number;
  /** Calls the listener soon after each commit that appended, with the last position: once for commits that follow each other closely. */
  onCommit(listener: (position: number) => void): Disposable;
  /** Deletes at most `maxRows` undamaged rows at positions ≤ `upTo`, oldest first; answers how many went (I12). */
  truncate(upTo: number, maxRows: number): Promise<number>;
  /** Notes that a follower could not read a row: it is passed by, and kept until a person decides (I8). */
  markDamaged(position: number, reason: string): Promise<void>;
  damaged(): Promise<readonly DamagedRow[]>;
  /** Notes a loss for good, once; what is left of the row is kept. In `losses` at once, on the disk when it resolves. */
  noteLoss(lossIn: LossIn, damage: LogDamage): Promise<void>;
  losses(): readonly LogLoss[];
  /** A person gives up what is lost: queries answer without it. Answers how many losses there were. */
  acceptLosses(): Promise<number>;
  /**
   * Puts a row back that was lost: one of a backup of this installation, whose checksums prove it. Followers that passed it do not come
   * back to it. False: what the log still has of it is of another one; nothing was changed.
   */
  restoreRow(row: VerifiedRow): Promise<boolean>;
  /** Nothing is lost at this position any more, for anyone. */
  endLosses(position: number): Promise<void>;
  /** Positions up to this one were given away, though the log does not know it (I3): the next one is after it. */
  goOnAfter(position: number): Promise<void>;
  /** Bytes of the batches that are not truncated. */
  retainedBytes(): number;
  /** Whether a blob belongs to an acknowledged upload, or to one that is kept aside. */
  hasBlob(path: string): Promise<boolean>;
  /** Blobs that are deleted: they belong to no upload any more. */
  forgetBlobs(paths: readonly string[]): Promise<void>;
}
