/** One output of $setWindowFields: an object with one window function, and a window if the function accepts one. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { SortKey } from '../../plan/sort-key.ts';
import { type WindowFunction, wholePartition } from '../../plan/window.ts';
import { malformed, withErrorsAt } from '../../query-error.ts';
import { windowFunctions } from '../../window-functions/registry.ts';
import { parseBounds } from './bounds.ts';

export function parseWindowFunction(value: BsonValue, by: readonly SortKey[] | undefined, at: string): WindowFunction {
  if (!(value instanceof BsonDocument)) throw malformed(`an output is an object, found ${describe(value)}`);
  const name = [...value.keys()].find((each) => each.startsWith('$'));
  if (name === undefined) throw malformed(`an output needs a window function, found ${describe(value)}`);
  const found = windowFunctions.get(name);
  if (found === undefined) {
    const hint = `the window functions are ${[...windowFunctions.keys()].join(', ')}`;
    throw malformed(`unrecognized window function '${name}'`, hint);
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
