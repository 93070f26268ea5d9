/** A part of a query that is compiled: the stages, and how the tables are laid out in the rows that they give. */

import { type Expr, field } from '../../plan/expr.ts';
import type { Plan, ShapeTree, Stage } from '../../plan/stage.ts';
import type { Tables } from '../parse.ts';
import type { Query } from '../parser/ast.ts';
import type { Scope, Source } from './scope.ts';

export interface Rows {
  readonly source: Plan['source'];
  readonly stages: readonly Stage[];
  readonly sources: readonly Source[];
  /** No more rows than this, whatever the data. */
  readonly atMost: number;
}

/** What surrounds a query: the tables, those that WITH names, and the query that it is a subquery of. */
export interface Around {
  readonly tables: Tables;
  readonly named: ReadonlyMap<string, Query>;
  readonly outer?: Scope['outer'];
  /** Names of fields are unique in exact rows; in flat ones a later one is renamed. */
  readonly exact: boolean;
  /** Queries compiled so far: one that WITH names counts wherever it is named. */
  readonly compiled: { queries: number };
  /** Compiles a query nested inside one. */
  readonly compile: (query: Query, around: Around) => Rows;
}

/** The rows hold one table and nothing else: they are its documents. */
export function isBare(rows: Rows): boolean {
  const [only] = rows.sources;
  return rows.sources.length === 1 && only!.doc.k === 'field' && only!.doc.path.length === 0;
}

/** Each table becomes a field of the row, so that others and hidden fields have room beside it. */
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

/** One of equal rows. */
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
