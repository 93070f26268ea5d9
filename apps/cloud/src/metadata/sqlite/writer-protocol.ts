/** Messages between the caller's thread and the writer thread. */
import type { CheckedTable } from '../row-checks/checked-table.ts';
import type { ThreadAnswer, ThreadMessage } from './thread-protocol.ts';

export interface Schema {
  readonly statements: readonly string[];
  /** Statements for only one of the stores, such as triggers; run after the others. */
  readonly sqliteOnly?: readonly string[];
  readonly postgresOnly?: readonly string[];
  /** Tables whose rows carry checksums from this version on. A later version that changes what they cover names them again. */
  readonly checked?: readonly CheckedTable[];
}

/** The change from the version before; the first of a list, the baseline, creates all tables. */
export interface Migration extends Schema {
  readonly version: number;
}

/** Values that SQLite can bind. */
export type SqlValue = null | number | bigint | string | Uint8Array;

export interface WriterSetup {
  readonly file: string;
  readonly migrations: readonly Migration[];
}

/** `run` is a transaction of one statement; a longer one is begin, steps, then commit or rollback. */
export type WriterRequest =
  | { readonly kind: 'run'; readonly id: number; readonly sql: string; readonly params: readonly SqlValue[] }
  | { readonly kind: 'begin'; readonly id: number; readonly tx: number }
  | {
      readonly kind: 'step';
      readonly id: number;
      readonly tx: number;
      readonly sql: string;
      readonly params: readonly SqlValue[];
    }
  | { readonly kind: 'commit' | 'rollback'; readonly id: number; readonly tx: number }
  | { readonly kind: 'close'; readonly id: number };

export interface StatementResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly changes: number;
  readonly insertId: number;
}

export type WriterAnswer = ThreadAnswer<StatementResult>;
export type WriterMessage = ThreadMessage<StatementResult, null>;
