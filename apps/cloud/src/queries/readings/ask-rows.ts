/** Runs one MQL query for the handlers of readings: takes stages as plain objects and returns rows. */
import { BsonDocument, type BsonValue, documentsOf, encodeBson, Int32, type Scope } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import type { QueryRequest } from '../../tabular/tabular.ts';
import type { QueriesDeps } from '../queries-deps.ts';

/** Stages of a pipeline; each has one field, its operator. */
export type Stages = readonly Readonly<Record<`$${string}`, BsonValue>>[];

export type AskRows = (
  scope: Scope,
  stages: Stages,
  options?: Pick<QueryRequest, 'unmetered' | 'exactTimes'>,
) => Promise<BsonDocument[]>;

/** The queries of one call. */
export interface Asker {
  readonly ask: AskRows;
  /** Bytes metered for its queries so far (D26). */
  readonly scannedBytes: number;
}

/**
 * API names are returned as stored: the compatibility layer converts those in messages (D2).
 *
 * @param onAnswered called with the bytes of the rows of each metered query
 */
export function createAsker(
  { tabular, onAnswered }: Pick<QueriesDeps, 'tabular' | 'onAnswered'>,
  signal: AbortSignal,
): Asker {
  let scannedBytes = 0;
  return {
    get scannedBytes() {
      return scannedBytes;
    },
    async ask(scope, stages, options = {}) {
      const plan = parseMql(stages.map((stage) => encodeBson(BsonDocument.of(stage))));
      const result = await tabular.query({ plan, scope, vocabulary: 'core', signal, ...options });
      if (options.unmetered === undefined) {
        scannedBytes += result.scannedBytes;
        onAnswered?.(scope.organizationId, result.bytes.length);
      }
      return [...documentsOf(result)];
    },
  };
}

/** The result of a count or sum as a number. */
export function numberOf(value: BsonValue | undefined): number {
  return value instanceof Int32 ? value.value : Number(value ?? 0);
}
