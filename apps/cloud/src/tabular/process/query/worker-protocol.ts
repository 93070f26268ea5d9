/** Messages between the child's main thread and an executor thread. One run at a time; messages of an earlier run are dropped. */
import type { Batch, SourceBatch } from '@platform/query';
import type { Failure } from './query-failure.ts';

export type ToWorker =
  /** `plan` as encodePlan writes it. */
  | { readonly kind: 'run'; readonly run: number; readonly plan: Uint8Array }
  | { readonly kind: 'input'; readonly run: number; readonly input: SourceBatch | null }
  | { readonly kind: 'cancel'; readonly run: number };

export type FromWorker =
  /** Requests one more batch of input. */
  | { readonly kind: 'more'; readonly run: number }
  | { readonly kind: 'rows'; readonly run: number; readonly batch: Batch }
  | { readonly kind: 'done'; readonly run: number }
  | ({ readonly kind: 'failed'; readonly run: number } & Failure);
