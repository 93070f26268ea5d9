/** What writes an ingest log, whichever store it is in: appends with what became of them, and what shortens it. */
import type { Outcome } from './appender.ts';
import type { LogEntry } from './log.ts';

export interface LogWriter extends AsyncDisposable {
  /** Resolves when its commit is on the disk (I2); the batch's buffer may be taken away. */
  append(entry: LogEntry): Promise<Outcome>;
  truncate(upTo: number, maxRows: number): Promise<{ readonly rows: number; readonly bytes: number }>;
  markDamaged(position: number, reason: string): Promise<void>;
  forgetBlobs(paths: readonly string[]): Promise<void>;
  readonly lastPosition: number;
  readonly retainedBytes: number;
}
