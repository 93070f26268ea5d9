/** Streams what a snapshot gives for a query: sealed files first, in their order, then hot rows. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Batch, SourceBatch } from '@platform/query';
import type { ScanRequest } from './messages.ts';
import { Chunk } from './push/chunk.ts';
import { runStatement } from './push/run-statement.ts';
import type { Step } from './push/steps.ts';
import { rowDocuments } from './row-documents.ts';
import { type Select, type Source, selectRows } from './source.ts';

export async function* scanSteps(connection: DuckDBConnection, steps: readonly Step[]): AsyncGenerator<SourceBatch> {
  for (const step of steps) {
    if (step.k === 'batch') {
      yield { batch: step.batch, done: false };
      continue;
    }
    const { sql, files, emission, sums } = step.statement;
    const decode = emission.decode(files, sums);
    for await (const chunk of runStatement(connection, sql, files, emission.binds, emission.gathered !== undefined)) {
      step.explain.rows += chunk.rows;
      yield { batch: decode(chunk), done: emission.done };
    }
  }
}

/** @param newest of each series only the rows with the latest time_received, to the millisecond, can make a difference. */
export async function* scanSegment(
  connection: DuckDBConnection,
  source: Source,
  request: ScanRequest,
  newest: boolean,
): AsyncGenerator<Batch> {
  const select = selectRows(source, request, newest);
  if (select === undefined) return;
  const encode = rowDocuments(source.series, request.vocabulary);
  const result = await connection.stream(select.sql, select.binds);
  for (;;) {
    const fetched = await result.fetchChunk();
    if (fetched === null || fetched.rowCount === 0) return;
    const chunk = new Chunk(fetched.chunk, fetched.rowCount);
    const series = chunk.int32(0);
    checkScope(series, select);
    const dataOf = chunk.blob(6);
    yield encode({
      rows: chunk.rows,
      series,
      captureDay: chunk.int32(1),
      times: [chunk.words(2), chunk.words(3), chunk.words(4)],
      missingTimes: chunk.bytes(5),
      data: Array.from({ length: chunk.rows }, (_, row) => dataOf(row)),
    });
  }
}

/** Throws when a row is outside the scope: whatever went wrong before, it is not answered. */
function checkScope(series: Int32Array, { allowed }: Select): void {
  for (const number of series)
    if (allowed[number] !== 1) throw new Error('a row outside the scope of the query was read; nothing is answered');
}
