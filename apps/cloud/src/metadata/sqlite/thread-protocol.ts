/** Messages from a thread that writes one SQLite file to the thread that started it. */

export type FaultKind =
  /** The disk is full; everything was rolled back, and the file is unchanged. */
  | 'full'
  /** Another process held the lock for longer than the timeout. */
  | 'busy'
  /** A UNIQUE, FOREIGN KEY, NOT NULL or CHECK constraint was violated. */
  | 'constraint'
  /** The disk or the file failed: nothing written since the last commit is known to be durable, and no sync is retried (I2). */
  | 'fatal'
  /** A page cannot be read, at least not now. */
  | 'unreadable'
  /** The statement itself is invalid. */
  | 'statement';

export interface SqliteFault {
  readonly kind: FaultKind;
  readonly message: string;
}

/** Answers the request with the same id. */
export type ThreadAnswer<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly fault: SqliteFault };

/** First `ready` or `refused`, then answers; after `fatal` nothing more. `close` is a request; it is answered when the file is closed. */
export type ThreadMessage<Result, Opened> =
  | { readonly type: 'ready'; readonly opened: Opened }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'answers'; readonly answers: readonly ThreadAnswer<Result>[] }
  | { readonly type: 'fatal'; readonly message: string };
