/** $unwind: takes a path, or an object with a path and options. */

import { describe } from '../bson/describe.ts';
import { isNullish } from '../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { withValue } from '../execute/expressions/path.ts';
import type { Row, Rows } from '../execute/row.ts';
import { parseFieldPath } from '../mql/path.ts';
import type { Path } from '../plan/expr.ts';
import type { UnwindStage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import type { StageContext, StageDefinition } from './definition.ts';

export const unwind: StageDefinition<UnwindStage> = { mql: { $unwind: parseUnwind }, run: runUnwind };

function parseUnwind(spec: BsonValue): UnwindStage {
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

const chunkRows = 1000;

async function* runUnwind(stage: UnwindStage, input: Rows, { budget }: StageContext): Rows {
  let chunk: Row[] = [];
  for await (const rows of input) {
    for (const row of rows) {
      const { near } = row;
      for (const document of unwound(row.document, stage)) {
        if (chunk.push(near === undefined ? { document } : { document, near }) < chunkRows) continue;
        await budget.pause();
        yield chunk;
        chunk = [];
      }
    }
    if (chunk.length > 0) yield chunk;
    chunk = [];
  }
}

/** A non-array counts as an array that holds only itself, but has no index. */
function* unwound(row: BsonDocument, { path, index, keepEmpty }: UnwindStage): Iterable<BsonDocument> {
  const place = (document: BsonDocument, at: bigint | null): BsonDocument =>
    index === undefined ? document : withValue(document, index, at);
  const value = valueAtFields(row, path);
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield place(withValue(row, path, item), BigInt(at));
    if (value.length === 0 && keepEmpty) yield place(withValue(row, path, undefined), null);
  } else if (!isNullish(value) || keepEmpty) yield place(row, null);
}

/** Arrays on the path are not entered. */
function valueAtFields(row: BsonDocument, path: Path): Maybe {
  let current: Maybe = row;
  for (const name of path) current = current instanceof BsonDocument ? current.get(name) : undefined;
  return current;
}
