/** Finds the first rows of an order without their documents: their sort keys and locations. */
import { type BsonValue, documentsOf, type SortStage, sortKeysOf } from '@platform/query';
import type { FileFacts } from '../../files/file-facts.ts';
import { and, onlyUsed } from '../conditions/sql.ts';
import type { OpenFile } from '../open-files.ts';
import type { Chunk } from '../rows/chunk.ts';
import type { RowsOptions } from '../rows/emit-rows.ts';
import { RowCells } from '../rows/row-cells.ts';
import { shapeParts } from '../rows/row-parts.ts';
import { rowShape } from '../rows/row-shape.ts';
import { rowWriter } from '../rows/write-rows.ts';
import type { Emission } from '../statement.ts';

/** Files whose emissions differ only in `decode` share a statement, even if other files are between them. */
export interface KeysEmission extends Pick<Emission, 'variant' | 'sql' | 'binds'> {
  readonly decode: (files: readonly OpenFile[]) => (chunk: Chunk) => readonly KeyedRow[];
}

export interface KeyedRow {
  /** In the form that the executor compares. */
  readonly keys: readonly BsonValue[];
  /** Index of its file in the list. */
  readonly file: number;
  /** file_row_number */
  readonly row: number;
  /** Size of its document. */
  readonly bytes: number;
}

/** Undefined when the sort keys cannot be rebuilt from columns. */
export function emitKeys(
  { by }: SortStage,
  facts: FileFacts,
  { where, binds, top = '' }: Pick<RowsOptions, 'where' | 'binds' | 'top'>,
): KeysEmission | undefined {
  const shape = rowShape(
    by.map(({ path }) => ({ path, as: 'value' })),
    facts,
  );
  if (shape === undefined) return undefined;
  const cells = new RowCells();
  const write = rowWriter(shapeParts(shape, cells));
  const [row, size] = [cells.of('CAST(file_row_number AS INTEGER)'), cells.of('size')];
  const sql = `SELECT ${cells.sql.join(', ')} FROM read_parquet($1) WHERE ${and(where)} ${top}`;
  return {
    variant: JSON.stringify(shape.data ?? null),
    ...onlyUsed(sql, binds.values),
    decode: (files) => {
      const documents = write(files);
      return (chunk) => {
        const [file, rows, sizes] = [chunk.int32(0), chunk.int32(row), chunk.int32(size)];
        return [...documentsOf(documents(chunk))].map((document, at) => ({
          keys: sortKeysOf(document, by),
          file: file[at] as number,
          row: rows[at] as number,
          bytes: sizes[at] as number,
        }));
      };
    },
  };
}
