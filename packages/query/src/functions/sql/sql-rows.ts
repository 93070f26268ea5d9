/** Documents and arrays in SQL: fields of values, rows of several tables in one document, FLATTEN, SIZE and SLICE. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { anything, kindOf, wholeNumbers } from '../../sql/types/kind.ts';
import { intOrNull, stringType } from '../../sql/types/signature.ts';
import { slice } from '../arrays/array.ts';
import { eager, type Functions } from '../definition.ts';

export const sqlRows: Functions = {
  'sql.field': eager({ sql: { takes: [['object'], stringType], gives: anything } }, (value, name) =>
    value instanceof BsonDocument ? value.get(String(name)) : undefined,
  ),
  'sql.document': eager({}, (value) => {
    if (value instanceof BsonDocument) return value;
    throw new QueryError('TypeMismatch', `SELECT VALUE takes a document, found ${typeName(value)}`, {
      hint: "write {'name': …}, or select rows with one in WHERE",
    });
  }),
  'sql.merge': eager(
    {},
    (...documents) => new BsonDocument(documents.flatMap((each) => (each instanceof BsonDocument ? [...each] : []))),
  ),
  'sql.flat': eager({}, flat),
  'sql.flatten': eager({}, (value, separator, depth) => {
    const into = new BsonDocument();
    const levels = depth instanceof Int32 ? depth.value : typeof depth === 'number' ? depth : Number.POSITIVE_INFINITY;
    if (value instanceof BsonDocument) flatten(value, '', String(separator), levels, into);
    return into;
  }),
  'sql.size': eager(
    { sql: { names: [['SIZE', 1, 1]], takes: [['array']], gives: intOrNull }, size: 'bounded' },
    (value) => (isNullish(value) ? null : new Int32(list(value, 'SIZE').length)),
  ),
  'sql.slice': eager(
    { sql: { names: [['SLICE', 2, 3]], takes: [['array'], wholeNumbers], gives: kindOf('array', 'null') } },
    (...args) => {
      if (args.some(isNullish)) return null;
      // Slicing zero or fewer items of an array gives null.
      return args.length === 3 && compareValues(args[2], 0) <= 0 ? null : slice(...args);
    },
  ),
};

function list(value: Maybe, name: string): readonly Maybe[] {
  if (Array.isArray(value)) return value;
  throw new QueryError('TypeMismatch', `${name} takes an array, found ${typeName(value)}`);
}

/**
 * Alternating names and rows of tables become one document. A field whose name an earlier table already uses is prefixed with its own
 * table, `table_field`; if that is taken too, `_2`, `_3`, … is appended.
 */
function flat(...tables: Maybe[]): Maybe {
  const row = new BsonDocument();
  for (let index = 0; index + 1 < tables.length; index += 2) {
    const document = tables[index + 1];
    if (!(document instanceof BsonDocument)) continue;
    for (const [name, value] of document) {
      let free = row.has(name) ? `${String(tables[index])}_${name}` : name;
      for (let copy = 2; row.has(free); copy++) free = `${String(tables[index])}_${name}_${copy}`;
      row.set(free, value);
    }
  }
  return row;
}

function flatten(document: BsonDocument, prefix: string, separator: string, levels: number, into: BsonDocument): void {
  for (const [name, value] of document) {
    const column = prefix + name;
    if (levels > 0 && value instanceof BsonDocument) flatten(value, column + separator, separator, levels - 1, into);
    else into.set(column, value);
  }
}
