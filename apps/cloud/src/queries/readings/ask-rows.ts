/** One question in MQL for the handlers of readings: stages as plain objects in, rows out. */
import { BsonDocument, type BsonValue, documentsOf, encodeBson, Int32, type Scope } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import type { QueryRequest, Tabular } from '../../tabular/tabular.ts';

/** Stages of a pipeline: one field each, its operator. */
export type Stages = readonly Readonly<Record<`$${string}`, BsonValue>>[];

export type AskRows = (
  scope: Scope,
  stages: Stages,
  options?: Pick<QueryRequest, 'unmetered' | 'exactTimes'>,
) => Promise<BsonDocument[]>;

/** Of one call. */
export interface Asker {
  readonly ask: AskRows;
  /** What its questions were metered with so far (D26). */
  readonly scannedBytes: number;
}

/** API names come as they are stored: the compatibility edge spells those of messages (D2). */
export function createAsker(tabular: Pick<Tabular, 'query'>, signal: AbortSignal): Asker {
  let scannedBytes = 0;
  return {
    get scannedBytes() {
      return scannedBytes;
    },
    async ask(scope, stages, options = {}) {
      const plan = parseMql(stages.map((stage) => encodeBson(BsonDocument.of(stage))));
      const result = await tabular.query({ plan, scope, vocabulary: 'core', signal, ...options });
      if (options.unmetered === undefined) scannedBytes += result.scannedBytes;
      return [...documentsOf(result)];
    },
  };
}

/** Of a count or a sum. */
export function numberOf(value: BsonValue | undefined): number {
  return value instanceof Int32 ? value.value : Number(value ?? 0);
}
