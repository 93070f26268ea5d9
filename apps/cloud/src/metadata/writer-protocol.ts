/** What the caller's thread and the writer thread say to each other. */

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
}

/** What SQLite binds. */
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

export type WriterAnswer =
  | ({ readonly id: number; readonly ok: true } & StatementResult)
  | { readonly id: number; readonly ok: false; readonly fault: SqliteFault };

export type FaultKind =
  /** The disk is full; everything was rolled back and the file is as before. */
  | 'full'
  /** Another process holds the lock longer than the timeout. */
  | 'busy'
  /** A UNIQUE, FOREIGN KEY, NOT NULL or CHECK constraint. */
  | 'constraint'
  /** The disk or the file failed: nothing written since the last commit may be called durable, no sync is retried (I2). */
  | 'fatal'
  /** The statement itself. */
  | 'statement';

export interface SqliteFault {
  readonly kind: FaultKind;
  readonly message: string;
}

export type WriterMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'answers'; readonly answers: readonly WriterAnswer[] }
  | { readonly type: 'fatal'; readonly message: string };
