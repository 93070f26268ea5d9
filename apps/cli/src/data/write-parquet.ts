/**
 * A spool as Parquet. A column is INT64, DOUBLE, BOOLEAN or text if all its values are, or a list of these if all its values are such
 * lists; times are instants in microseconds. In other columns, strings are stored as they are and everything else as JSON.
 */
import { open } from 'node:fs/promises';
import { PlatformError, type Scalar } from '@platform/sdk/cloud';
import type { SchemaElement } from 'hyparquet-writer';
import { type Cells, type Column, type ColumnKind, cellsOf, inferColumns, listOf } from './infer-columns.ts';

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
    const schema = [{ name: 'root', num_children: columns.size }, ...Array.from(columns).flatMap(elementsOf)];
    const writer = new ParquetWriter({
      writer: Object.assign(bytes, { flush: write, finish: write }),
      schema,
      createdBy: 'platform',
    });
    for await (const rows of groupsOf(spool)) {
      if (signal.aborted) throw signal.reason;
      const columnData = Array.from(columns, ([name, column]) => ({
        name,
        data: rows.map((cells) => parquetCell(cells.get(name), column)),
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

function elementsOf([name, { kind, isList }]: readonly [string, Column]): SchemaElement[] {
  if (!isList) return [elementOf(name, kind)];
  const list = { converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 } as const;
  return [
    { name, repetition_type: 'OPTIONAL', ...list },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    elementOf('element', kind),
  ];
}

function elementOf(name: string, kind: ColumnKind): SchemaElement {
  const optional = { name, repetition_type: 'OPTIONAL' } as const;
  if (kind === 'integer') return { ...optional, type: 'INT64' };
  if (kind === 'number') return { ...optional, type: 'DOUBLE' };
  if (kind === 'boolean') return { ...optional, type: 'BOOLEAN' };
  if (kind === 'time') return { ...optional, type: 'INT64', converted_type: 'TIMESTAMP_MICROS', logical_type: instant };
  return { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' };
}

function parquetCell(cell: string | Scalar | undefined, { kind, isList }: Column): unknown {
  if (cell === undefined) return null;
  if (!isList) return parquetValue(cell, kind);
  const list = listOf(cell);
  return list === undefined ? null : list.map((element) => elementValue(element, kind));
}

/** @param element of a list, as JSON.parse returns it */
function elementValue(element: unknown, kind: ColumnKind): unknown {
  if (element === null || typeof element === 'boolean') return element;
  if (kind === 'integer') return BigInt(Number(element));
  return kind === 'number' ? Number(element) : String(element);
}

function parquetValue(cell: string | Scalar, kind: ColumnKind): unknown {
  if (typeof cell === 'string') {
    if (kind === 'time') return microsecondsOf(cell);
    return kind === 'number' ? Number(cell) : cell;
  }
  if (cell.json === 'null') return null;
  if (kind === 'integer') return BigInt(cell.text);
  if (kind === 'number') return Number(cell.text);
  return kind === 'boolean' ? cell.json === 'true' : cell.text;
}

/** Parses a time as written in lines, with three or six fractional digits. */
function microsecondsOf(text: string): bigint {
  const [, microseconds = '0'] = /\.\d{3}(\d{3})Z$/.exec(text) ?? [];
  return BigInt(Date.parse(text)) * 1_000n + BigInt(microseconds);
}
