/** What the ingest log's caller and its thread say to each other. */
import type { ThreadAnswer, ThreadMessage } from '../../metadata/sqlite/thread-protocol.ts';
import type { ProvenRow } from '../losses/row-checksums.ts';
import type { LogEntry, LogLoss } from './log.ts';
import type { Outcome } from './recognise-retry.ts';

export type LogRequest =
  | { readonly kind: 'append'; readonly id: number; readonly entry: LogEntry }
  | { readonly kind: 'truncate'; readonly id: number; readonly upTo: number; readonly maxRows: number }
  | { readonly kind: 'damaged'; readonly id: number; readonly position: number; readonly reason: string }
  | { readonly kind: 'lost'; readonly id: number; readonly loss: LogLoss }
  | { readonly kind: 'accept losses'; readonly id: number; readonly nowMs: number }
  | { readonly kind: 'restore'; readonly id: number; readonly row: ProvenRow }
  | { readonly kind: 'end losses'; readonly id: number; readonly position: number }
  | { readonly kind: 'go on'; readonly id: number; readonly after: number }
  | { readonly kind: 'forget'; readonly id: number; readonly paths: readonly string[] }
  /** Forget anonymous uploads that need not be recognised any more (D13). */
  | { readonly kind: 'expire'; readonly id: number; readonly nowMs: number }
  | { readonly kind: 'close'; readonly id: number };

export type LogResult = Outcome | { readonly rows: number; readonly bytes: number };
export type LogAnswer = ThreadAnswer<LogResult>;

export interface LogOpened {
  readonly lastPosition: number;
  readonly retainedBytes: number;
}

export type LogMessage = ThreadMessage<LogResult, LogOpened>;

export interface LogThreadSetup {
  readonly file: string;
}
