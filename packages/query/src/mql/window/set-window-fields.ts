/** $setWindowFields: partition, order, and outputs by window functions. */

import { describe } from '../../bson/describe.ts';
import { typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { Expr, Path } from '../../plan/expr.ts';
import type { SortKey } from '../../plan/sort-key.ts';
import type { Stage } from '../../plan/stage.ts';
import { type WindowFunction, wholePartition } from '../../plan/window.ts';
import { malformed, QueryError, withErrorsAt } from '../../query-error.ts';
import { windowFunctions } from '../../window-functions/registry.ts';
import { constantOf, parseExpression } from '../expression.ts';
import { parseFieldPath } from '../path.ts';
import { parseSortKeys } from '../stages/sort.ts';
import { parseBounds } from './bounds.ts';
import { strictFields } from './strict-fields.ts';

export function parseSetWindowFields(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) {
    throw malformed(`$setWindowFields takes an object, found ${typeName(spec)}`);
  }
  const fields = strictFields(spec, '$setWindowFields', {
    partitionBy: { type: 'any' },
    sortBy: { type: 'object' },
    output: { type: 'object', required: true },
  });
  const partitionBy = parsePartition(fields.get('partitionBy'));
  const by = fields.has('sortBy') ? parseOrder(fields.get('sortBy') as BsonDocument) : undefined;
  const output: [Path, WindowFunction][] = [];
  for (const [name, value] of fields.get('output') as BsonDocument) {
    const path = parseFieldPath(name);
    if (output.some(([known]) => conflict(known, path))) {
      throw new QueryError(6307900, `the output has conflicting paths, one of them '${name}'`);
    }
    const at = `$setWindowFields.output.${name}`;
    output.push([path, withErrorsAt({ path: at }, () => parseWindowFunction(value, by, at))]);
  }
  return { k: 'window', by: by ?? [], output, ...(partitionBy === undefined ? {} : { partitionBy }) };
}

/** A constant key means a single partition. */
function parsePartition(value: BsonValue | undefined): Expr | undefined {
  if (value === undefined) return undefined;
  const expr = parseExpression(value, '$setWindowFields.partitionBy');
  const constant = constantOf(expr);
  if (constant === undefined) return expr;
  if (Array.isArray(constant.value)) {
    throw new QueryError('TypeMismatch', 'an expression used to partition must not give an array');
  }
  return undefined;
}

function parseOrder(sortBy: BsonDocument): readonly SortKey[] {
  return sortBy.size === 0 ? [] : parseSortKeys(sortBy);
}

/** Whether one path equals or contains the other. */
function conflict(left: Path, right: Path): boolean {
  const shared = Math.min(left.length, right.length);
  return left.slice(0, shared).every((part, index) => part === right[index]);
}

/** One output of $setWindowFields: an object with one window function, and a window if the function accepts one. */
function parseWindowFunction(value: BsonValue, by: readonly SortKey[] | undefined, at: string): WindowFunction {
  if (!(value instanceof BsonDocument)) throw malformed(`an output is an object, found ${describe(value)}`);
  const name = [...value.keys()].find((each) => each.startsWith('$'));
  if (name === undefined) throw malformed(`an output needs a window function, found ${describe(value)}`);
  const found = windowFunctions.get(name);
  if (found === undefined) {
    const hint = `the window functions are ${[...windowFunctions.keys()].join(', ')}`;
    throw malformed(`unrecognized window function '${name}'`, { hint });
  }
  const others = [...value.keys()].filter((each) => each !== name && each !== 'window');
  if (others.length > 0 && found.refusesOthers !== true)
    throw malformed(`${name} found an unknown argument: ${others.join(', ')}`);
  const window = value.get('window');
  const frame = found.takesWindow !== true || window === undefined ? wholePartition : parseBounds(window, by, at);
  const spec = { name, argument: value.get(name)!, frame, hasWindow: window !== undefined, others, by };
  const path = `${at}.${name}`;
  return withErrorsAt({ path }, () => found.parse({ ...spec, at: path }));
}
