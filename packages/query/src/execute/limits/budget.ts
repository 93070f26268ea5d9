/** What a query may use: memory for the rows that it holds, and time. */

import { type Clock, systemClock } from '@platform/base';
import type { Batch } from '../../bson/batch.ts';
import { QueryError } from '../../query-error.ts';

export interface Limits {
  /** Bytes that sorts and groups may hold together. Default 100 MiB, MongoDB's own limit for a stage; 0: no limit. */
  readonly maxBytes?: number;
  /** Wall clock time at which the query ends, ms since 1970 UTC. Absent: no limit. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Maximum rows of an output batch. Default 1,000. */
  readonly batchRows?: number;
  /** Bytes of an output batch after which it is closed. Default 1 MiB. */
  readonly batchBytes?: number;
  /** Opens the source of a join, subquery or union, each time it is read. Absent: there are no sources. */
  readonly open?: (source: string) => AsyncIterable<Batch> | Iterable<Batch>;
}

/** After this much work, the event loop gets a turn. */
const turnMs = 10;

export class Budget {
  readonly #maxBytes: number;
  readonly #limits: Limits;
  readonly #clock: Clock;
  #heldBytes = 0;
  #turnEndsMs: number;
  /** Start of the query, ms since 1970 UTC: the value of $$NOW. */
  readonly nowMs: number;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#maxBytes = limits.maxBytes ?? 100 * 1024 * 1024;
    this.#clock = limits.clock ?? systemClock;
    this.#turnEndsMs = this.#clock.monotonic() + turnMs;
    this.nowMs = this.#clock.now();
  }

  /** @throws QueryError QueryExceededMemoryLimitNoDiskUseAllowed */
  hold(bytes: number, stage: string): void {
    this.#heldBytes += bytes;
    if (this.#maxBytes === 0 || this.#heldBytes <= this.#maxBytes) return;
    throw new QueryError(
      'QueryExceededMemoryLimitNoDiskUseAllowed',
      `${stage} needs more memory than the ${this.#maxBytes} bytes that a query may use`,
      { stageName: stage, hint: 'filter earlier, project fewer fields, or limit the rows' },
    );
  }

  /** Rows of another source in the plan. */
  open(source: string): AsyncIterable<Batch> | Iterable<Batch> {
    if (source === 'none') return [];
    if (this.#limits.open !== undefined) return this.#limits.open(source);
    throw new QueryError('NotImplemented', `rows of ${source} cannot be combined with others here`);
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** Called between chunks of rows. @throws QueryError MaxTimeMSExpired or Interrupted */
  async pause(): Promise<void> {
    this.check();
    if (this.#clock.monotonic() < this.#turnEndsMs) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#turnEndsMs = this.#clock.monotonic() + turnMs;
    this.check();
  }

  check(): void {
    if (this.#limits.signal?.aborted) throw new QueryError('Interrupted', 'the query was cancelled by its caller');
    const { deadlineMs } = this.#limits;
    if (deadlineMs !== undefined && this.#clock.now() >= deadlineMs) {
      throw new QueryError('MaxTimeMSExpired', 'the query did not finish within its time limit', {
        hint: 'filter on path columns and times first',
      });
    }
  }
}
