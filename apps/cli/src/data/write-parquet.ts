/**
 * A spool as Parquet. A column is DOUBLE, BOOLEAN or text if all its values are; the time is an instant in microseconds. In other
 * columns, strings are stored as they are and everything else as JSON.
 */
import { open } from 'node:fs/promises';
import { PlatformError, type Scalar } from '@platform/sdk/cloud';
import type { SchemaElement } from 'hyparquet-writer';
import { type Cells, type ColumnKind, cellsOf, inferColumns } from './infer-columns.ts';

/** With only the older converted_type, DuckDB and others read it as a time without a zone. */
const instant = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } as const;
const groupRows = 20_000;
/** Maximum characters of cells that are buffered for a row group. */
const groupCharacters = 32 * 1024 * 1024;

/** @throws the reason of `signal` */
export async function writeParquet(spool: string, target: string, signal: AbortSignal): Promise<void> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const columns = await inferColumns(spool, 'Parquet');
  const file = await open(target, 'w');
  try {
    const bytes = new ByteWriter(1 << 20);
    const write = async (): Promise<void> => {
      await file.appendFile(bytes.getBytes().slice());
      bytes.index = 0;
    };
    const schema = [{ name: 'root', num_children: columns.size }, ...Array.from(columns, elementOf)];
    const writer = new ParquetWriter({
      writer: Object.assign(bytes, { flush: write, finish: write }),
      schema,
      createdBy: 'platform',
    });
    for await (const rows of groupsOf(spool)) {
      if (signal.aborted) throw signal.reason;
      const columnData = Array.from(columns, ([name, kind]) => ({
        name,
        data: rows.map((cells) => parquetValue(cells.get(name), kind)),
      }));
      await writer.write({ columnData, rowGroupSize: rows.length });
    }
    await writer.finish();
    await file.sync();
  } catch (caught) {
    if (caught instanceof PlatformError || signal.aborted) throw caught;
    throw new PlatformError(
      'internal',
      `Parquet: ${caught instanceof Error ? caught.message : String(caught)}`,
      caught,
    );
  } finally {
    await file.close();
  }
}

async function* groupsOf(spool: string): AsyncGenerator<readonly Cells[]> {
  let rows: Cells[] = [];
  let characters = 0;
  for await (const cells of cellsOf(spool)) {
    rows.push(cells);
    for (const cell of cells.values()) characters += typeof cell === 'string' ? cell.length : cell.text.length;
    if (rows.length < groupRows && characters < groupCharacters) continue;
    yield rows;
    rows = [];
    characters = 0;
  }
  if (rows.length > 0) yield rows;
}

function elementOf([name, kind]: readonly [string, ColumnKind]): SchemaElement {
  const optional = { name, repetition_type: 'OPTIONAL' } as const;
  if (kind === 'number') return { ...optional, type: 'DOUBLE' };
  if (kind === 'boolean') return { ...optional, type: 'BOOLEAN' };
  if (kind === 'time') return { ...optional, type: 'INT64', converted_type: 'TIMESTAMP_MICROS', logical_type: instant };
  return { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' };
}

function parquetValue(cell: string | Scalar | undefined, kind: ColumnKind): unknown {
  if (cell === undefined) return null;
  if (typeof cell === 'string') {
    if (kind === 'time') return microsecondsOf(cell);
    return kind === 'number' ? Number(cell) : cell;
  }
  if (cell.json === 'null') return null;
  if (kind === 'number') return Number(cell.text);
  return kind === 'boolean' ? cell.json === 'true' : cell.text;
}

/** Parses a time as written in lines, with three or six fractional digits. */
function microsecondsOf(text: string): bigint {
  const [, microseconds = '0'] = /\.\d{3}(\d{3})Z$/.exec(text) ?? [];
  return BigInt(Date.parse(text)) * 1_000n + BigInt(microseconds);
}
