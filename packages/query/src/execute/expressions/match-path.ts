/**
 * Follows a path by the rules of query operators: an array along the path is entered element by element and by index; an array at the end
 * is tested as a whole and, if `expand` is set, element by element.
 */

import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';

type Test = (value: Maybe) => boolean;

/** Whether the test holds for any value at the path; a path without values is tested with `undefined`. */
export function pathMatches(root: Maybe, path: Path, expand: boolean, test: Test): boolean {
  return walk(root, path, 0, expand, test);
}

function walk(start: Maybe, path: Path, from: number, expand: boolean, test: Test): boolean {
  let current = start;
  for (let index = from; index < path.length; index++) {
    if (current instanceof BsonDocument) current = current.get(path[index]!);
    else if (Array.isArray(current)) return intoArray(current, path, index, expand, test);
    else return test(undefined);
  }
  return atEnd(current, expand, test);
}

function atEnd(value: Maybe, expand: boolean, test: Test): boolean {
  if (expand && Array.isArray(value) && value.some(test)) return true;
  return test(value);
}

/** Objects in the array are followed by name; a numeric part also selects the element at that index. */
function intoArray(array: readonly BsonValue[], path: Path, index: number, expand: boolean, test: Test): boolean {
  const part = path[index]!;
  const position = /^(0|[1-9]\d*)$/.test(part) ? Number(part) : -1;
  for (const [place, item] of array.entries()) {
    if (item instanceof BsonDocument && walk(item, path, index, expand, test)) return true;
    if (place !== position) continue;
    if (index === path.length - 1) {
      if (atEnd(item, expand, test)) return true;
    } else if (item instanceof BsonDocument || Array.isArray(item)) {
      if (walk(item, path, index + 1, expand, test)) return true;
    }
  }
  return false;
}
