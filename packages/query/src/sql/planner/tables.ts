/** Tables that a statement can name. */

import type { Plan } from '../../plan/stage.ts';
import { fault } from '../parser/cursor.ts';
import { nearest } from '../parser/keywords.ts';
import type { Token } from '../parser/lex.ts';
import { anyDocument, type Kind } from '../types/kind.ts';

export interface Table {
  /** The source that the plan reads. */
  readonly source: Plan['source'];
  readonly kind: Kind;
}

export interface Tables {
  /** The database for tables that are named without one. */
  readonly database: string;
  /** Database → table; if `undefined`, every table of every database exists, and nothing is known about it. */
  readonly databases: Readonly<Record<string, Readonly<Record<string, Table>>>> | undefined;
}

export function tableOf(path: readonly string[], { database, databases }: Tables, at: Token): Table {
  const [name, inDatabase = database] = path.toReversed();
  if (databases === undefined) return { source: `${inDatabase}.${name}`, kind: { ...anyDocument, assumed: true } };
  const tables = Object.hasOwn(databases, inDatabase) ? databases[inDatabase]! : {};
  const table = Object.hasOwn(tables, name!) ? tables[name!] : undefined;
  if (table !== undefined) return table;
  const known = Object.keys(databases).flatMap((each) =>
    Object.keys(databases[each]!).map((table) => [each, table] as const),
  );
  const names = known.map(([, each]) => each);
  const meant = nearest(name!, names) ?? names[0];
  const home = known.find(([, each]) => each === meant)?.[0];
  const hint = meant === undefined ? undefined : `the table is ${meant} (also ${home}.${meant})`;
  throw fault(at, `unknown table ${path.join('.')}`, hint);
}
