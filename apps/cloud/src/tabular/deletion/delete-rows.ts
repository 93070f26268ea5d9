/**
 * Permanently deletes rows, by a rule (I10). They are counted in one snapshot, and hidden from every snapshot opened after it. Rows
 * committed after the count stay.
 */
import { type Clock, createLimiter, getOrInsert } from '@platform/base';
import { BsonDocument, type BsonValue, documentsOf, encodeBson, Int32, type Plan, pathColumns } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import type { Database } from '../../metadata/tables.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { DeletePredicate } from '../catalog/row-filter.ts';
import { tagCondition } from '../query/tag-condition.ts';
import type { QueryRequest, QueryResult } from '../tabular.ts';

export interface DeleteRequest {
  readonly organizationId: string;
  readonly predicate: Pick<DeletePredicate, 'paths' | 'tags' | 'beforeDay'>;
  /** Counts the rows and deletes nothing. */
  readonly dryRun: boolean;
  readonly signal?: AbortSignal;
  /** Runs in the deleting transaction with the number of rows; 0: only the hot store had any. Not called if nothing is deleted. */
  readonly record: (trx: Database, rows: number) => Promise<void>;
}

/** Returns the number of rows. */
export type DeleteRows = (request: DeleteRequest) => Promise<number>;

export function createDeleteRows(deps: {
  readonly catalog: Pick<Catalog, 'addDelete'>;
  readonly query: (request: QueryRequest) => Promise<QueryResult>;
  readonly clock: Clock;
}): DeleteRows {
  const { catalog, query, clock } = deps;
  // Two concurrent deletions would both count the rows that they share.
  const turns = new Map<string, ReturnType<typeof createLimiter>>();
  const count = async (
    { organizationId, predicate, signal }: DeleteRequest,
    source: 'readings' | 'hot' = 'readings',
  ) => {
    const result = await query({
      plan: { ...countPlan(predicate), source },
      scope: { organizationId, locationIds: null, robotIds: null },
      vocabulary: 'core',
      unmetered: true,
      ...(signal && { signal }),
    });
    const [row] = documentsOf(result);
    const rows = row?.get('n');
    return { rows: rows instanceof Int32 ? rows.value : Number(rows ?? 0), upTo: result.upTo };
  };
  return async (request) => {
    if (request.dryRun) return (await count(request)).rows;
    const inTurn = getOrInsert(turns, request.organizationId, () => createLimiter(1));
    return await inTurn(async () => {
      const { rows, upTo } = await count(request);
      const { organizationId, predicate, record } = request;
      // Rows hidden by retention may still be in the hot store. They are deleted too, but not counted.
      if (rows > 0 || (await count(request, 'hot')).rows > 0)
        await catalog.addDelete(organizationId, { predicate, upTo }, clock.now(), (trx) => record(trx, rows));
      return rows;
    });
  };
}

function countPlan({ paths = {}, tags, beforeDay }: DeleteRequest['predicate']): Plan {
  const conditions = new BsonDocument();
  for (const column of pathColumns)
    if (column !== 'capture_day' && paths[column] !== undefined)
      conditions.set(column, BsonDocument.of({ $in: [...paths[column]] }));
  if (beforeDay !== undefined) conditions.set('capture_day', BsonDocument.of({ $lt: beforeDay }));
  if (tags !== undefined) conditions.set(...tagCondition(tags));
  const stages = [{ $match: conditions }, { $count: 'n' }];
  return parseMql(stages.map((stage) => encodeBson(BsonDocument.of(stage as Record<string, BsonValue>))));
}
