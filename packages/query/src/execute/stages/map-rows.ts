/** Stages that turn each row into a new one, over chunks of rows. */

import type { RowStage } from '../../plan/stage.ts';
import { inStage } from '../error-stage.ts';
import { enterRow, type Frame } from '../expressions/scope.ts';
import type { Row } from '../row.ts';
import { compileReplace } from './replace.ts';
import { compileShape } from './shape.ts';

/** A chunk that has grown beyond this is passed on before it is full, because chunks do not count against the budget. */
const chunkBytes = 8 * 1024 * 1024;

/** @throws what the stage throws, now and over rows, with its position */
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
