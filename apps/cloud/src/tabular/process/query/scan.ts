/** Streams the results of a snapshot's files for a query, in order. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Batch, SourceBatch } from '@platform/query';
import type { Connections } from '../duckdb/database.ts';
import type { Chunk } from '../pushdown/rows/chunk.ts';
import { type OpenStatement, openStatement, readChunks } from '../pushdown/run-statement.ts';
import type { Emission, Statement } from '../pushdown/statement.ts';
import type { Step } from '../pushdown/steps.ts';

/**
 * While the result of one grouping statement is read, the next is already running: their results are small, and this keeps all cores busy.
 */
export async function* scanSteps(connections: Connections, steps: readonly Step[]): AsyncGenerator<SourceBatch> {
  let ahead: Running | undefined;
  try {
    for (const [index, step] of steps.entries()) {
      if (step.k === 'batch') {
        yield { batch: step.batch, done: step.done };
        continue;
      }
      const running = ahead ?? (await start(step.statement, connections));
      const next = steps[index + 1];
      ahead =
        groups(step) && next?.k === 'statement' && groups(next) ? await start(next.statement, connections) : undefined;
      const { emission, files, sums } = step.statement;
      const decode = emission.decode(files, sums);
      const batches: Batch[] = [];
      for await (const chunk of readChunks(running.opened, emission, () => connections.isInterrupted)) {
        step.explain.rows += chunk.rows;
        for (const part of partsOf(chunk, emission)) {
          const batch = decode(part);
          if (step.keep !== undefined) batches.push(batch);
          yield { batch, done: emission.done };
        }
      }
      step.keep?.(batches);
      connections.give(running.connection);
    }
  } finally {
    // Its connection is closed once nothing runs on it.
    if (ahead !== undefined) {
      ahead.connection.interrupt();
      await ahead.opened.catch(() => {});
    }
  }
}

interface Running {
  readonly connection: DuckDBConnection;
  readonly opened: Promise<OpenStatement>;
}

async function start({ sql, files, emission }: Statement, connections: Connections): Promise<Running> {
  const connection = await connections.take();
  const { binds, columns } = emission;
  const opened = openStatement(connection, { sql, files, binds, ...(columns !== undefined && { columns }) });
  // The reader gets the error.
  opened.catch(() => {});
  return { connection, opened };
}

function groups(step: Step): boolean {
  return step.k === 'statement' && step.statement.emission.kind === 'group';
}

/** Maximum bytes of documents in one batch; a single document may be larger. */
const batchBytes = 4 << 20;

/** A chunk has up to 2,048 rows, each of which may be several MB. */
function* partsOf(chunk: Chunk, { documents }: Emission): Generator<Chunk> {
  if (documents === undefined) return yield chunk;
  const lengthOf = chunk.lengths(documents);
  let from = 0;
  let bytes = 0;
  for (let row = 0; row < chunk.rows; row++) {
    const length = lengthOf(row);
    if (row > from && bytes + length > batchBytes) {
      yield chunk.slice(from, row);
      from = row;
      bytes = 0;
    }
    bytes += length;
  }
  yield from === 0 ? chunk : chunk.slice(from, chunk.rows);
}
