/**
 * The rows of a file as columns (arrived-rows.ts): `data` from the file's columns if they contain everything requested, otherwise as BSON.
 */
import type { Batch, FieldRead } from '@platform/query';
import {
  type ArrivalsAsked,
  type ArrivedColumn,
  type ArrivedShape,
  encodeArrived,
} from '../../arrivals/arrived-rows.ts';
import { seriesNames } from '../../arrivals/series-names.ts';
import { kind } from '../files/file-facts.ts';
import type { ScanRequest } from '../messages.ts';
import { checkScope } from '../pushdown/check-scope.ts';
import { rowConditions } from '../pushdown/conditions/row-conditions.ts';
import { and, Binds, no, onlyUsed } from '../pushdown/conditions/sql.ts';
import { millisecondsSql } from '../pushdown/conditions/times.ts';
import type { OpenFile } from '../pushdown/open-files.ts';
import type { Chunk } from '../pushdown/rows/chunk.ts';
import { RowCells } from '../pushdown/rows/row-cells.ts';
import { rowShape, type Shape } from '../pushdown/rows/row-shape.ts';
import type { Emission } from '../pushdown/statement.ts';
import { rowTestSql } from './row-test-sql.ts';

/** Undefined: no row of the file is wanted. */
export function emitArrivals(file: OpenFile, request: ScanRequest, asked: ArrivalsAsked): Emission | undefined {
  const binds = new Binds();
  const bind = (value: number): string => binds.of({ type: 'bigint', value: BigInt(value) });
  const test = asked.only === undefined ? [] : [rowTestSql(asked.only, file.facts, binds)];
  const where = and([
    ...rowConditions(file, file.wanted, request, binds),
    ...[`position > ${bind(asked.after)}`, `position <= ${bind(asked.upTo)}`, ...test],
  ]);
  if (where === no) return undefined;
  const cells = new RowCells();
  const ms = (time: string): number => cells.of(`coalesce(CAST(${millisecondsSql(time)} AS DOUBLE), 'nan'::DOUBLE)`);
  const at = {
    position: cells.of('CAST(position AS DOUBLE)'),
    index: cells.of('"index"'),
    syncedMs: ms('time_synced'),
    receivedMs: ms('time_received'),
  };
  const data = dataOf(file, asked, cells);
  return {
    kind: data?.shape === 'bson' ? 'rows' : 'columns',
    variant: `arrivals ${JSON.stringify(data?.shape ?? null)}`,
    ...onlyUsed(`SELECT ${cells.sql.join(', ')} FROM read_parquet($1) WHERE ${where}`, binds.values),
    columns: cells.sql.length,
    ...(data?.shape === 'bson' && { documents: data.columns[0]?.cell as number }),
    done: true,
    decode: (files) => (chunk) => {
      checkScope(chunk, files);
      const names = seriesNames();
      const [ofFile, number] = [chunk.int32(0), chunk.int32(1)];
      const seriesOf = new Int32Array(chunk.rows);
      for (let row = 0; row < chunk.rows; row++)
        seriesOf[row] = names.of(files[ofFile[row] as number]?.facts.series[number[row] as number]);
      return blockOf(
        encodeArrived({
          rows: chunk.rows,
          series: names.list,
          seriesOf,
          position: chunk.double(at.position),
          index: chunk.int32(at.index),
          syncedMs: chunk.double(at.syncedMs),
          receivedMs: chunk.double(at.receivedMs),
          ...(data && {
            data: { shape: data.shape, columns: data.columns.map((column) => readColumn(chunk, column)) },
          }),
        }),
      );
    },
  };
}

/** Between here and its reader, a block is treated as one document. */
export function blockOf(block: Uint8Array): Batch {
  return { count: 1, bytes: block, ends: Uint32Array.of(block.length) };
}

interface Column {
  readonly k: ArrivedColumn['k'];
  readonly cell: number;
}

interface Data {
  readonly shape: ArrivedShape | 'bson';
  readonly columns: readonly Column[];
}

function dataOf({ facts }: OpenFile, { paths }: ArrivalsAsked, cells: RowCells): Data | undefined {
  if (paths !== 'all' && paths.length === 0) return undefined;
  const fields = paths === 'all' ? [] : paths.map((path): FieldRead => ({ path: ['data', ...path], as: 'value' }));
  const shape = paths === 'all' ? undefined : rowShape(fields, facts)?.data;
  if (shape === undefined) return { shape: 'bson', columns: [{ k: 'bytes', cell: cells.of('data') }] };
  const columns: Column[] = [];
  return { shape: arrivedShape(shape, cells, columns), columns };
}

function arrivedShape(
  { name, kinds, isAlways, columns, children }: Shape,
  cells: RowCells,
  to: Column[],
): ArrivedShape {
  const column = (k: Column['k'], sql: string | undefined): number | undefined =>
    sql === undefined ? undefined : to.push({ k, cell: cells.of(sql) }) - 1;
  const isObject = isAlways || kinds === kind.object;
  const own = isObject
    ? {}
    : {
        number: column('number', columns.number),
        text: column('bytes', columns.text),
        bool: column('byte', columns.bool),
        kind: column('byte', columns.kind),
      };
  return {
    name,
    otherwise: isObject ? 'object' : kinds === kind.null ? 'null' : 'nothing',
    ...Object.fromEntries(Object.entries(own).filter(([, index]) => index !== undefined)),
    children: children.map((child) => arrivedShape(child, cells, to)),
  };
}

function readColumn(chunk: Chunk, { k, cell }: Column): ArrivedColumn {
  const present = presenceOf(chunk, cell);
  if (k === 'number') return { k, values: chunk.double(cell), ...present };
  if (k === 'byte') return { k, values: chunk.bytes(cell), ...present };
  const textOf = chunk.blob(cell);
  const texts: Uint8Array[] = [];
  const ends = new Uint32Array(chunk.rows);
  let end = 0;
  for (let row = 0; row < chunk.rows; row++) {
    if (present.present === undefined || present.present[row] === 1) {
      const text = textOf(row);
      texts.push(text);
      end += text.length;
    }
    ends[row] = end;
  }
  return { k, ends, values: Buffer.concat(texts), ...present };
}

/** Absent: every row has a value. */
function presenceOf(chunk: Chunk, cell: number): { present?: Uint8Array } {
  const isPresent = chunk.present(cell);
  const present = new Uint8Array(chunk.rows);
  let missing = false;
  for (let row = 0; row < chunk.rows; row++) {
    if (isPresent(row)) present[row] = 1;
    else missing = true;
  }
  return missing ? { present } : {};
}
