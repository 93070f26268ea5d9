/** What writes an ingest log, whichever store it is in: appends with what became of them, and what shortens it. */

import type { VerifiedRow } from '../losses/row-checksums.ts';
import type { IngestLog, LogEntry, LogLoss } from './log.ts';
import type { Outcome } from './recognise-retry.ts';

export interface LogWriter extends AsyncDisposable {
  /** Resolves when its commit is on the disk (I2); the batch's buffer may be taken away. */
  append(entry: LogEntry): Promise<Outcome>;
  truncate(upTo: number, maxRows: number): Promise<{ readonly rows: number; readonly bytes: number }>;
  markDamaged(position: number, reason: string): Promise<void>;
  noteLoss(loss: LogLoss): Promise<void>;
  acceptLosses(nowMs: number): Promise<void>;
  restoreRow(row: VerifiedRow): Promise<boolean>;
  endLosses(position: number): Promise<void>;
  goOnAfter(position: number): Promise<void>;
  forgetBlobs(paths: readonly string[]): Promise<void>;
  readonly lastPosition: number;
  readonly retainedBytes: number;
}

/** What reads it. */
export interface LogReads extends Pick<IngestLog, 'read' | 'follow' | 'damaged' | 'hasBlob' | 'isKnown'> {
  /** As stored. */
  losses(): Promise<readonly LogLoss[]>;
}
