/** Writes an ingest log in either store: appends and maintenance. */
import type { IngestLog, LogEntry, LogLoss } from './log.ts';
import type { LogMaintenance, Maintained } from './log-maintenance.ts';
import type { Outcome } from './recognise-retry.ts';

/** The methods of LogMaintenance, called from another thread or over a connection. */
type Maintenance = {
  [Method in Exclude<keyof LogMaintenance, 'expire'>]: (
    ...args: Parameters<LogMaintenance[Method]>
  ) => Promise<Maintained>;
};

interface LogWriter extends Maintenance, AsyncDisposable {
  /** Resolves when its commit is on the disk (I2). */
  append(entry: LogEntry): Promise<Outcome>;
  readonly lastPosition: number;
  /** Bytes of the batches that the log held when it was opened. */
  readonly openedBytes: number;
}

/** What both stores implement; openIngestLog adds error texts and checks. */
export interface LogStore {
  readonly writer: LogWriter;
  readonly reads: LogReads;
}

/** Reads an ingest log in either store. */
interface LogReads extends Pick<IngestLog, 'read' | 'follow' | 'damaged' | 'hasBlob' | 'isKnown' | 'reusableBytes'> {
  /** The losses as stored. */
  losses(): Promise<readonly LogLoss[]>;
}
