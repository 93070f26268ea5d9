/**
 * Splits the documents of rows into typed columns: once over all of them to learn what is there, once more to fill the columns that
 * are worth it. Chunk by chunk; between chunks others get their turn, and nothing but counts and one chunk is held.
 */
import {
  BOOLEAN,
  DOUBLE,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  INTEGER,
  UTINYINT,
  VARCHAR,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { Database } from '../database.ts';
import { type ColumnBuffers, chunkRows, createColumnBuffers } from './column-buffers.ts';
import { type DescribedLeaf, describeLeaves } from './describe-leaves.ts';
import { gatherLeaves } from './gather-leaves.ts';
import { createLeafTree, type LeafTree } from './leaf-tree.ts';
import { type DocumentChunk, type DocumentRun, readDocuments } from './read-documents.ts';
import { createWalker, type Walker } from './walk-documents.ts';

export interface ShreddedRows {
  readonly leaves: readonly DescribedLeaf[];
  /** Names of the leaves' columns in the table. */
  readonly columns: readonly string[];
}

/** Where the documents of rows stand. */
export interface Documents {
  /** SQL with one BLOB column. */
  readonly select: string;
  readonly rows: number;
}

/** Creates `table` with the column `size` (bytes of the document) and those of the leaves, a row for each document, in the same order. */
export async function shredRows(
  connection: DuckDBConnection,
  database: Database,
  documents: Documents,
  table: string,
): Promise<ShreddedRows> {
  const tree = createLeafTree();
  const walker = createWalker(tree);
  // What is appended goes out from time to time, which ends whatever the same connection was reading.
  const reader = await database.connect();
  try {
    const kept: DocumentChunk[] = [];
    const leaves = await learn(reader, documents, tree, walker, kept);
    const buffers = createColumnBuffers(leaves);
    const types = buffers.columns.map(({ name, type }) => `, ${name} ${type}`);
    await connection.run(`CREATE OR REPLACE TABLE ${table} (size INTEGER NOT NULL${types.join('')})`);
    const appender = await connection.createAppender(table);
    try {
      await fill(
        kept.length > 0 ? kept : readDocuments(reader, documents.select),
        documents,
        walker,
        buffers,
        appender,
      );
    } finally {
      appender.closeSync();
    }
    return { leaves, columns: buffers.columns.map(({ name }) => name) };
  } finally {
    reader.closeSync();
  }
}

async function learn(
  connection: DuckDBConnection,
  documents: Documents,
  tree: LeafTree,
  walker: Walker,
  kept: DocumentChunk[],
): Promise<DescribedLeaf[]> {
  const gathered = gatherLeaves();
  let bytes = 0;
  const keep = async function* (): AsyncGenerator<DocumentChunk> {
    for await (const chunk of readDocuments(connection, documents.select)) {
      const runs = [...chunk.runs];
      for (const run of runs) bytes += run.bytes.length;
      if (bytes <= maxKeptBytes) kept.push({ rows: chunk.rows, runs });
      else kept.length = 0;
      yield { rows: chunk.rows, runs };
    }
  };
  await eachRun(keep(), documents, (run) => {
    walk(walker, run);
    gathered.add(walker.entries, run.bytes);
  });
  return describeLeaves(tree, gathered, documents.rows);
}

async function fill(
  chunks: Iterable<DocumentChunk> | AsyncIterable<DocumentChunk>,
  documents: Documents,
  walker: Walker,
  buffers: ColumnBuffers,
  appender: DuckDBAppender,
): Promise<void> {
  const sizes = new Int32Array(chunkRows);
  const add = (run: DocumentRun): void => {
    for (const [i, end] of run.ends.entries()) sizes[run.row + i] = end - (run.ends[i - 1] ?? 0);
    if (buffers.columns.length === 0) return;
    walk(walker, run);
    buffers.add(walker.entries, run.bytes);
  };
  let filled = 0;
  await eachRun(chunks, documents, add, (rows) => {
    append(appender, sizes, buffers, rows);
    buffers.clear();
    // By itself it would go out seldom, and then hold up everyone.
    if (++filled % chunksAtOnce === 0) appender.flushSync();
  });
  appender.flushSync();
}

const chunksAtOnce = 16;

/** Documents of up to so many bytes together are not read twice: most seals are small. */
const maxKeptBytes = 4 << 20;

/** Large documents make a chunk long: others get their turn within it, too. */
const pauseBytes = 4 << 20;

async function eachRun(
  chunks: Iterable<DocumentChunk> | AsyncIterable<DocumentChunk>,
  { rows }: Pick<Documents, 'rows'>,
  onRun: (run: DocumentRun) => void,
  onChunk: (rows: number) => void = () => {},
): Promise<void> {
  let read = 0;
  let sincePause = 0;
  for await (const chunk of chunks) {
    for (const run of chunk.runs) {
      onRun(run);
      sincePause += run.bytes.length;
      if (sincePause < pauseBytes) continue;
      sincePause = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    onChunk(chunk.rows);
    read += chunk.rows;
  }
  if (read !== rows) throw new Error(`expected ${rows} documents to shred, found ${read}`);
}

function walk(walker: Walker, { bytes, row, ends }: DocumentRun): void {
  walker.entries.count = 0;
  let start = 0;
  for (const [i, end] of ends.entries()) {
    walker.walk(bytes, start, end, row + i);
    start = end;
  }
}

const typeOf = { DOUBLE, VARCHAR, BOOLEAN, UTINYINT } as const;

function append(appender: DuckDBAppender, sizes: Int32Array, { columns }: ColumnBuffers, rows: number): void {
  const chunk = DuckDBDataChunk.create([INTEGER, ...columns.map(({ type }) => typeOf[type])], rows);
  const vectorOf = (column: number): ReturnType<typeof duckdb.data_chunk_get_vector> =>
    duckdb.data_chunk_get_vector(chunk.chunk, column);
  duckdb.copy_data_to_vector(vectorOf(0), 0, sizes.buffer as ArrayBuffer, sizes.byteOffset, rows * 4);
  for (const [i, { used, cells, validity, long }] of columns.entries()) {
    const vector = vectorOf(i + 1);
    if (used) {
      const bytes = (cells.length / chunkRows) * rows;
      duckdb.copy_data_to_vector(vector, 0, cells.buffer as ArrayBuffer, cells.byteOffset, bytes);
      for (const { row, text } of long) duckdb.vector_assign_string_element_len(vector, row, text);
    }
    duckdb.vector_ensure_validity_writable(vector);
    const validBytes = Math.ceil(rows / 64) * 8;
    duckdb.copy_data_to_vector_validity(vector, 0, validity.buffer as ArrayBuffer, validity.byteOffset, validBytes);
  }
  appender.appendDataChunk(chunk);
}
