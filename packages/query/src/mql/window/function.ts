/** One output of $setWindowFields: an object with one window function, and a window where the function takes one. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { SortKey } from '../../plan/stage.ts';
import { wholePartition } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { type WindowFunction, windowFunctions } from '../../window-functions/registry.ts';
import { parseBounds } from './bounds.ts';

export function parseWindowFunction(value: BsonValue, by: readonly SortKey[] | undefined, at: string): WindowFunction {
  const fail = (reason: string): QueryError => new QueryError('FailedToParse', reason, { path: at });
  if (!(value instanceof BsonDocument)) throw fail(`an output is an object, found ${describe(value)}`);
  const name = [...value.keys()].find((each) => each.startsWith('$'));
  if (name === undefined) throw fail(`an output needs a window function, found ${describe(value)}`);
  const found = windowFunctions.get(name);
  if (found === undefined) {
    throw new QueryError('FailedToParse', `unrecognized window function '${name}'`, {
      path: at,
      hint: `the window functions are ${[...windowFunctions.keys()].join(', ')}`,
    });
  }
  const others = [...value.keys()].filter((each) => each !== name && each !== 'window');
  if (others.length > 0 && found.refusesOthers !== true)
    throw fail(`${name} found an unknown argument: ${others.join(', ')}`);
  const window = value.get('window');
  return found.parse({
    name,
    argument: value.get(name)!,
    frame:
      window === undefined || found.takesWindow !== true ? wholePartition : parseBounds(window, by, `${at}.window`),
    hasWindow: window !== undefined,
    others,
    by,
    at: `${at}.${name}`,
  });
}
