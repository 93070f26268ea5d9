/** Runs one MQL query for the handlers of readings: takes stages as plain objects and returns rows. */
import { type Batch, BsonDocument, type BsonValue, documentsOf, encodeBson, Int32, type Scope } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import type { QueryRequest } from '../../tabular/tabular.ts';
import type { QueriesDeps } from '../queries-deps.ts';

/** Stages of a pipeline; each has one field, its operator. */
export type Stages = readonly Readonly<Record<`$${string}`, BsonValue>>[];

type Ask<T> = (scope: Scope, stages: Stages, options?: Pick<QueryRequest, 'unmetered' | 'exactTimes'>) => Promise<T>;

export type AskRows = Ask<BsonDocument[]>;
/** For many rows, which are decoded in turns. */
export type AskBatch = Ask<Batch>;

/** The queries of one call. */
export interface Asker {
  readonly ask: AskRows;
  readonly askBatch: AskBatch;
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
  const askBatch: AskBatch = async (scope, stages, options = {}) => {
    const plan = parseMql(stages.map((stage) => encodeBson(BsonDocument.of(stage))));
    const result = await tabular.query({ plan, scope, vocabulary: 'core', signal, ...options });
    if (options.unmetered === undefined) {
      scannedBytes += result.scannedBytes;
      onAnswered?.(scope.organizationId, result.bytes.length);
    }
    return result;
  };
  return {
    get scannedBytes() {
      return scannedBytes;
    },
    askBatch,
    ask: async (...asked) => [...documentsOf(await askBatch(...asked))],
  };
}

/** The result of a count or sum as a number. */
export function numberOf(value: BsonValue | undefined): number {
  return value instanceof Int32 ? value.value : Number(value ?? 0);
}
