/** Messages between the ingest log's caller and its thread. */
import type { WatchSetup } from '@platform/base/watchdog';
import type { ThreadAnswer, ThreadMessage } from '../../metadata/sqlite/thread-protocol.ts';
import type { LogEntry } from './log.ts';
import type { LogMaintenance, Maintained } from './log-maintenance.ts';
import type { Outcome } from './recognise-retry.ts';

export type LogRequest =
  | { readonly kind: 'append'; readonly id: number; readonly entry: LogEntry }
  | { readonly kind: 'maintain'; readonly id: number; readonly call: MaintenanceCall }
  | { readonly kind: 'close'; readonly id: number };

/** A method of LogMaintenance and its arguments. */
export type MaintenanceCall = {
  [Method in keyof LogMaintenance]: { readonly method: Method; readonly args: Parameters<LogMaintenance[Method]> };
}[keyof LogMaintenance];

export type LogResult = Outcome | Maintained;
export type LogAnswer = ThreadAnswer<LogResult>;

export interface LogOpened {
  readonly lastPosition: number;
  readonly retainedBytes: number;
}

export type LogMessage = ThreadMessage<LogResult, LogOpened>;

export interface LogThreadSetup {
  readonly file: string;
  /** The thread also watches the main thread. */
  readonly watch?: WatchSetup | undefined;
}
