/** $unwind: a path, or an object with more to say. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { parseFieldPath } from '../path.ts';

export function parseUnwind(spec: BsonValue): Stage {
  if (typeof spec === 'string') return { k: 'unwind', path: parsePath(spec), keepEmpty: false };
  if (!(spec instanceof BsonDocument)) {
    throw new QueryError(15981, `$unwind takes a path or an object, found ${describe(spec)}`);
  }
  let path: string | undefined;
  let index: string | undefined;
  let keepEmpty = false;
  for (const [name, value] of spec) {
    if (name === 'path') {
      if (typeof value !== 'string') throw new QueryError(28808, `path must be a string, found ${describe(value)}`);
      path = value;
    } else if (name === 'preserveNullAndEmptyArrays') {
      if (typeof value !== 'boolean') {
        throw new QueryError(28809, `preserveNullAndEmptyArrays must be a boolean, found ${describe(value)}`);
      }
      keepEmpty = value;
    } else if (name === 'includeArrayIndex') {
      if (typeof value !== 'string' || value === '') {
        throw new QueryError(28810, `includeArrayIndex must be a name, found ${describe(value)}`);
      }
      if (value.startsWith('$')) {
        throw new QueryError(28822, `includeArrayIndex must not start with '$', found ${describe(value)}`);
      }
      index = value;
    } else {
      throw new QueryError(28811, `$unwind has no option '${name}'`, {
        hint: 'its options are path, includeArrayIndex and preserveNullAndEmptyArrays',
      });
    }
  }
  if (path === undefined) throw new QueryError(28812, '$unwind needs a path');
  const stage = { k: 'unwind', path: parsePath(path), keepEmpty } as const;
  return index === undefined ? stage : { ...stage, index: parseFieldPath(index) };
}

function parsePath(text: string): Path {
  if (text === '') throw new QueryError(28812, '$unwind needs a path, found an empty string');
  if (!text.startsWith('$')) {
    throw new QueryError(28818, `the path of $unwind starts with '$', found ${describe(text)}`);
  }
  if (text.includes('\0')) throw new QueryError(16419, 'the path of $unwind must not contain a null byte');
  return parseFieldPath(text.slice(1));
}
