/** Filters as one function over a chunk of rows. */

import type { Stage } from '../../plan/stage.ts';
import { inStage } from '../error-stage.ts';
import type { Row } from '../row.ts';
import { compileExpression } from './expression.ts';
import { enterRow, type Frame } from './scope.ts';
import { isTruthy } from './truth.ts';

/** @returns the rows that pass all of them. */
export function compileFilters(filters: readonly (Stage & { k: 'filter' })[], frame: Frame): (rows: Row[]) => Row[] {
  const tests = filters.map((stage) => {
    const where = inStage(stage, () => compileExpression(stage.where));
    const test = (row: Row): boolean => {
      enterRow(frame, row.document, row.near);
      const value = where(frame);
      return typeof value === 'boolean' ? value : isTruthy(value);
    };
    return (rows: Row[]): Row[] => inStage(stage, () => rows.filter(test));
  });
  return (rows) => tests.reduce((kept, test) => test(kept), rows);
}
