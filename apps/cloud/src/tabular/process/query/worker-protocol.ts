/** What the child's main thread and an executor thread say to each other. One run at a time; what belongs to an earlier run is dropped. */
import type { Batch, SourceBatch } from '@platform/query';
import type { Failure } from './query-failure.ts';

export type ToWorker =
  /** `plan` as encodePlan writes it. */
  | { readonly kind: 'run'; readonly run: number; readonly plan: Uint8Array }
  | { readonly kind: 'input'; readonly run: number; readonly input: SourceBatch | null }
  | { readonly kind: 'cancel'; readonly run: number };

export type FromWorker =
  /** Wants one more batch of input. */
  | { readonly kind: 'more'; readonly run: number }
  | { readonly kind: 'rows'; readonly run: number; readonly batch: Batch }
  | { readonly kind: 'done'; readonly run: number }
  | ({ readonly kind: 'failed'; readonly run: number } & Failure);
