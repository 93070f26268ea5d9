/** Which column a name means. */

import { type Expr, field } from '../plan/expr.ts';
import type { Select } from './ast.ts';
import { fault } from './cursor.ts';
import { nearest } from './keywords.ts';
import type { Token } from './lex.ts';
import type { Tables } from './parse.ts';

export interface Columns {
  /** A path as written → the field of the row; the name of the table or its alias may stand in front. */
  resolve(path: readonly string[], at: Token): Expr;
  isTable(name: string): boolean;
}

const database = 'sensorData';

export function columnsOf(table: Select['table'], tables: Tables): Columns {
  const name = table.path.at(-1)!;
  const known = Object.hasOwn(tables, name) ? tables[name] : undefined;
  const inDatabase =
    table.path.length === 1 || known === null || (table.path.length === 2 && table.path[0] === database);
  if (known === undefined || !inDatabase) {
    const all = Object.keys(tables);
    const meant = nearest(name, all) ?? all[0];
    throw fault(table.at, `unknown table ${table.path.join('.')}`, `the table is ${meant} (also ${database}.${meant})`);
  }
  const qualifier = table.alias ?? name;
  return {
    isTable: (text) => text === qualifier,
    resolve(path, at) {
      const [first, ...rest] = path;
      const isColumn = known?.includes(first!) ?? false;
      if (first === qualifier && !isColumn) {
        if (rest.length === 0) return field();
        return this.resolve(rest, at);
      }
      if (known === null || isColumn) return field(...path);
      if (table.alias === undefined && first === database && rest[0] === name) return field(...rest.slice(1));
      const candidates = [...known, qualifier];
      const meant = nearest(first!, candidates);
      const hint = meant ? `did you mean ${meant}?` : `the columns are ${known.join(', ')}; readings lie under data`;
      throw fault(at, `unknown column ${first}`, hint);
    },
  };
}
