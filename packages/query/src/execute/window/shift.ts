/** $shift: the value of the row so many places on, or the default where there is none. */

import type { WindowFunction } from '../../plan/window.ts';
import { compileExpression } from '../expressions/expression.ts';
import { evaluator, type StartWalk, type Workspace } from './partition.ts';

export function shift(fn: WindowFunction & { k: 'shift' }, workspace: Workspace): StartWalk {
  const input = compileExpression(fn.input);
  return (partition) => {
    const value = evaluator(input, partition, workspace);
    return (index) => {
      const other = index + fn.by;
      return other >= 0 && other < partition.documents.length ? (value(other) ?? null) : fn.otherwise.value;
    };
  };
}
