/** Streams what a snapshot gives for a query: sealed files first, in their order, then hot rows. */
import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api';
import type { Batch, SourceBatch } from '@platform/query';
import type { Connections } from './database.ts';
import type { ScanRequest } from './messages.ts';
import { chunksOf, openStatement } from './push/run-statement.ts';
import type { Statement } from './push/statement.ts';
import type { Step } from './push/steps.ts';
import { rowDocuments } from './row-documents.ts';
import { type Select, type Source, selectRows } from './source.ts';

/** While a statement that groups is read, the next that groups is already at work: their answers are small, and no core waits. */
export async function* scanSteps(connections: Connections, steps: readonly Step[]): AsyncGenerator<SourceBatch> {
  let ahead: Running | undefined;
  try {
    for (const [index, step] of steps.entries()) {
      if (step.k === 'batch') {
        yield { batch: step.batch, done: false };
        continue;
      }
      const running = ahead ?? (await start(step.statement, connections));
      const next = steps[index + 1];
      ahead =
        groups(step) && next?.k === 'statement' && groups(next) ? await start(next.statement, connections) : undefined;
      const { emission, files, sums } = step.statement;
      const decode = emission.decode(files, sums);
      for await (const chunk of chunksOf(running.result)) {
        step.explain.rows += chunk.rows;
        yield { batch: decode(chunk), done: emission.done };
      }
      connections.give(running.connection);
    }
  } finally {
    // Its connection is closed once nothing runs on it.
    if (ahead !== undefined) {
      ahead.connection.interrupt();
      await ahead.result.catch(() => {});
    }
  }
}

interface Running {
  readonly connection: DuckDBConnection;
  readonly result: Promise<DuckDBResult>;
}

async function start({ sql, files, emission }: Statement, connections: Connections): Promise<Running> {
  const connection = await connections.take();
  const isGathered = emission.gathered !== undefined || emission.kind === 'group';
  const result = openStatement(connection, sql, files, emission.binds, isGathered);
  // Whoever reads it hears of it.
  result.catch(() => {});
  return { connection, result };
}

function groups(step: Step): boolean {
  return step.k === 'statement' && step.statement.emission.kind === 'group';
}

/**
 * @param columns what of the rows is read, besides `data`; undefined: all.
 * @param newest of each series only the rows with the latest time_received, to the millisecond, can make a difference.
 */
export async function* scanSegment(
  connection: DuckDBConnection,
  source: Source,
  request: ScanRequest,
  { columns, newest }: { columns: ReadonlySet<string> | undefined; newest: boolean },
): AsyncGenerator<Batch> {
  const select = selectRows(source, request, newest);
  if (select === undefined) return;
  const encode = rowDocuments(source.series, request.vocabulary, columns, request.exactTimes);
  for await (const chunk of chunksOf(connection.stream(select.sql, select.binds))) {
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
