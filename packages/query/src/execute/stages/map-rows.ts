/** Stages that make a new row of each row, over chunks of rows. */

import type { RowStage } from '../../plan/stage.ts';
import { inStage } from '../error-stage.ts';
import { enterRow, type Frame } from '../expressions/scope.ts';
import type { Row } from '../row.ts';
import { compileReplace } from './replace.ts';
import { compileShape } from './shape.ts';

/** A chunk whose rows were built larger than this is handed on before it is full: chunks are what is held beside the budget. */
const chunkBytes = 8 * 1024 * 1024;

/** @throws what the stage throws, now and over rows, with its place */
export function compileRowMap(stage: RowStage, frame: Frame): (rows: Row[]) => Iterable<Row[]> {
  const change = inStage(stage, () => (stage.k === 'shape' ? compileShape(stage) : compileReplace(stage)));
  return function* mapRows(rows) {
    let chunk: Row[] = [];
    let bytes = 0;
    const fill = (from: number): number => {
      for (let index = from; index < rows.length; index++) {
        const { document, near } = rows[index]!;
        enterRow(frame, document, near);
        chunk.push(near === undefined ? { document: change(frame) } : { document: change(frame), near });
        bytes += frame.builtBytes;
        if (bytes >= chunkBytes) return index + 1;
      }
      return rows.length;
    };
    for (let next = 0; next < rows.length; ) {
      const from = next;
      next = inStage(stage, () => fill(from));
      yield chunk;
      chunk = [];
      bytes = 0;
    }
  };
}
