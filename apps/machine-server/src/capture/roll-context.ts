import type { Clock, Log } from '@platform/base';
import type { CaptureStorage } from '@platform/capture-file';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import type { MemoryShare } from './capture-memory.ts';

/** What the files of all series share. */
export interface RollContext {
  readonly storage: CaptureStorage;
  readonly ledger: SeqLedger;
  readonly partId: string;
  readonly memory: MemoryShare;
  readonly wallMicros: () => number;
  /** When `write` will be called next, on the monotonic clock; in the past if that is unknown. */
  readonly nextWriteOutMs: () => number;
  /** Readings since this time (wall clock) are lost: a file was given up, or the server stops before they could be written. */
  readonly lost: (readings: number, sinceUs: number) => void;
  readonly clock: Clock;
  readonly log: Log;
}
