/** The parts of the rows that a projection makes from a file's columns. */

import { isPathColumn, isTimeColumn, type Path, readingColumns } from '@platform/query';
import { allOf } from '../all-of.ts';
import type { OpenFile } from '../open-files.ts';
import type { Made, Projection } from './projection.ts';
import type { RowCells } from './row-cells.ts';
import {
  columnPart,
  fieldBytes,
  noBytes,
  openObject,
  type Part,
  timePart,
  valueParts,
  wholeDataPart,
} from './row-parts.ts';
import { type Kept, keptShape, type Shape } from './row-shape.ts';

export interface ProjectedRows {
  readonly parts: readonly Part[];
  /** What the parts depend on besides the projection: equal for files whose rows are written the same way. */
  readonly variant: string;
}

/** Undefined when the file's columns do not give exactly the executor's rows. */
export function projectedRows({ kept, made }: Projection, file: OpenFile, cells: RowCells): ProjectedRows | undefined {
  const shapes: Shape[] = [];
  const context: RowContext = { file, cells, shapes };
  const parts = allOf(kept, ([column, what]) => keptParts(column, what, context))?.flat();
  const behind = parts && partsOf(made, context, 0);
  return behind && { parts: [...parts, ...behind], variant: JSON.stringify(shapes) };
}

interface RowContext {
  readonly file: OpenFile;
  readonly cells: RowCells;
  /** Collects shapes found in the file's facts. */
  readonly shapes: Shape[];
}

function keptParts(column: string, what: Kept, context: RowContext): readonly Part[] | undefined {
  if (column === 'data') return dataParts('data', [], what, context, 0);
  if (what === 'all') return [isTimeColumn(column) ? timePart(column, context.cells) : columnPart(column)];
  // Texts and times have no fields.
  return isPathColumn(column) || isTimeColumn(column) ? [] : undefined;
}

function dataParts(
  name: string,
  below: Path,
  what: Kept,
  { file, cells, shapes }: RowContext,
  level: number,
): readonly Part[] | undefined {
  const shape = keptShape(name, below, what, file.facts);
  if (shape !== undefined) {
    shapes.push(shape);
    return valueParts(shape, cells);
  }
  // Inside an object it could be nested too deeply.
  return below.length === 0 && what === 'all' && level === 0 ? [wholeDataPart(cells, name)] : undefined;
}

function partsOf(made: readonly Made[], context: RowContext, level: number): readonly Part[] | undefined {
  return allOf(made, (each) => madeParts(each, context, level))?.flat();
}

function madeParts(made: Made, context: RowContext, level: number): readonly Part[] | undefined {
  const { name } = made;
  switch (made.k) {
    case 'constant':
      return [{ k: 'bytes', bytes: fieldBytes(name, made.value).slice() }];
    case 'object': {
      const fields = partsOf(made.fields, context, level + 1);
      return fields && [openObject(name), ...fields, { k: 'close' }];
    }
    case 'series': {
      const { expr } = made;
      // If it fails for a series, the executor reports the error if the series has a row.
      if (context.file.values.values(expr) === undefined) return undefined;
      const bytesOf = ({ values }: OpenFile, number: number): Uint8Array => {
        const value = values.values(expr)?.[number];
        return value === undefined ? noBytes : fieldBytes(name, value);
      };
      return [{ k: 'series', bytesOf }];
    }
    case 'path': {
      const [column = '', ...below] = made.path;
      if (column === 'data') return dataParts(name, below, 'all', context, level);
      // Texts and times have no fields, and rows have no other columns.
      if (below.length > 0 || !readingColumns.includes(column)) return [];
      return [isTimeColumn(column) ? timePart(column, context.cells, name) : columnPart(column, name)];
    }
  }
}
