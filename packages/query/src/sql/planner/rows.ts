/** A compiled part of a query: the stages, and the layout of the tables in the rows that they produce. */

import { type Expr, field } from '../../plan/expr.ts';
import type { Plan, ShapeTree, Stage } from '../../plan/stage.ts';
import type { Query } from '../parser/ast.ts';
import type { Scope, Source } from './scope.ts';
import type { Tables } from './tables.ts';

export interface Rows {
  readonly source: Plan['source'];
  readonly stages: readonly Stage[];
  readonly sources: readonly Source[];
  /** Maximum number of rows, whatever the data. */
  readonly atMost: number;
}

/** What surrounds a query: the tables, the queries named by WITH, and the query that contains it as a subquery. */
export interface Around {
  readonly tables: Tables;
  readonly named: ReadonlyMap<string, Query>;
  readonly outer?: Scope['outer'];
  /** Field names are unique in exact rows; in flat ones a later one is renamed. */
  readonly exact: boolean;
  /** Number of queries compiled so far; a query named by WITH counts each time it is used. */
  readonly compiled: { queries: number };
  /** Compiles a nested query. */
  readonly compile: (query: Query, around: Around) => Rows;
}

/** Whether the rows hold one table and nothing else: they are its documents. */
export function isBare(rows: Rows): boolean {
  const [only] = rows.sources;
  return rows.sources.length === 1 && only!.doc.k === 'field' && only!.doc.path.length === 0;
}

/** Makes each table a field of the row, so that other tables and hidden fields fit next to it. */
export function wrapped(rows: Rows): Rows {
  if (!isBare(rows)) return rows;
  const { name } = rows.sources[0]!;
  const fields: readonly (readonly [string, Expr])[] = [[name, field()]];
  return {
    ...rows,
    stages: [...rows.stages, { k: 'replace', with: { k: 'doc', fields } }],
    sources: rows.sources.map((source) => ({ ...source, doc: field(name) })),
  };
}

export function setFields(columns: readonly (readonly [string, Expr])[]): Stage {
  const fields = columns.map(([name, value]): ShapeTree['fields'][number] => [name, { k: 'set', value }]);
  return { k: 'shape', mode: 'set', tree: { k: 'tree', fields } };
}

export function dropFields(names: readonly string[]): Stage {
  return { k: 'shape', mode: 'exclude', tree: { k: 'tree', fields: names.map((name) => [name, { k: 'drop' }]) } };
}

/** Keeps one of equal rows. */
export function distinctStages(): Stage[] {
  return [
    { k: 'group', key: field(), accumulators: [] },
    { k: 'replace', with: field('_id') },
  ];
}

/** Names of fields that the compiler adds: no table or column can have them. */
export function hidden(kind: string, index: number): string {
  return `\u0001${kind}${index}`;
}
