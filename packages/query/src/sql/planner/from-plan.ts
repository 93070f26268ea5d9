/** FROM becomes the source of a plan and its first stages. */

import { call, type Expr, field } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import type { From } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import {
  documentKind,
  either,
  fieldOf,
  holds,
  type Kind,
  kindOf,
  kindText,
  maybeMissing,
  unfit,
} from '../types/kind.ts';
import { compileFlatten } from './flatten-plan.ts';
import { compileJoin } from './join-plan.ts';
import { lower, type Meaning, site } from './lower.ts';
import { type Around, type Rows, wrapped } from './rows.ts';
import { resolve, type Source } from './scope.ts';
import { tableOf } from './tables.ts';

export function compileFrom(from: From, around: Around): Rows {
  switch (from.k) {
    case 'collection':
      return collection(from, around);
    case 'array':
      return values(from);
    case 'derived':
      return merged(around.compile(from.query, around), from.alias, from);
    case 'join':
      return compileJoin(from, compileFrom(from.left, around), compileFrom(from.right, around), around);
    case 'unwind':
      return unwound(from, around);
    case 'flatten':
      return compileFlatten(from, compileFrom(from.of, around));
  }
}

function collection(from: From & { k: 'collection' }, around: Around): Rows {
  const name = from.alias ?? from.path.at(-1)!;
  const named = from.path.length === 1 ? around.named.get(from.path[0]!) : undefined;
  if (named !== undefined) {
    // A query named by WITH sees the earlier ones, not itself.
    const before = [...around.named].slice(0, [...around.named.keys()].indexOf(from.path[0]!));
    const { outer: _, ...outside } = around;
    return merged(around.compile(named, { ...outside, named: new Map(before) }), name, from);
  }
  const { source, kind } = tableOf(from.path, around.tables, from.at);
  return { source, stages: [], sources: [{ name, doc: field(), kind }], atMost: Number.POSITIVE_INFINITY };
}

/** Rows written in the statement: their contents depend on nothing else. */
function values(from: From & { k: 'array' }): Rows {
  const meaning: Meaning = {
    column: (path, at) => {
      throw fault(
        at,
        `an array in FROM can contain only values, found the name ${path[0]}`,
        'use it as a table: FROM (SELECT …) AS t',
      );
    },
    aggregate: (node) => {
      throw fault(node.at, `${node.fn} is not allowed in FROM`);
    },
    subquery: (node) => {
      throw fault(node.at, 'a subquery is not allowed in an array in FROM', 'use it as a table: FROM (SELECT …) AS t');
    },
  };
  const rows = from.items.map((item) => {
    const row = lower(item, meaning);
    if (unfit(row.kind, ['object'])) throw fault(item.at, `a row must be a document, found ${kindText(row.kind)}`);
    return row;
  });
  const kind = rows.length === 0 ? documentKind([]) : rows.map((row) => row.kind).reduce(either);
  const stage: Stage = { k: 'values', rows: rows.map(({ expr }) => expr) };
  return { source: 'none', stages: [stage], sources: [{ name: from.alias, doc: field(), kind }], atMost: rows.length };
}

/** All tables of a query's rows become one document. */
function merged(rows: Rows, name: string, from: From): Rows {
  const { sources } = rows;
  if (sources.length === 1) {
    const [{ doc, kind }] = sources as [(typeof sources)[0]];
    const bare = doc.k === 'field' && doc.path.length === 0;
    const stages: readonly Stage[] = bare ? rows.stages : [...rows.stages, { k: 'replace', with: orEmpty(doc) }];
    return { ...rows, stages, sources: [{ name, doc: field(), kind }] };
  }
  const fields = new Map<string, Kind>();
  let open = 0;
  for (const { kind } of sources) {
    for (const [each, known] of kind.fields ?? []) {
      if (fields.has(each)) throw fault(from.at, `the query has two columns named ${each}`, 'select them with aliases');
      fields.set(each, kind.types?.size === 1 ? known : maybeMissing(known));
    }
    if (kind.open === true || kind.types === undefined) open++;
  }
  if (open > 0 && sources.length > 1) {
    const names = sources.map((source) => source.name).join(' and ');
    throw fault(from.at, `${names} may have columns of the same name`, 'select the columns with aliases');
  }
  const merge = call(
    'sql.merge',
    sources.map(({ doc }) => doc),
    site(from.at),
  );
  return {
    ...rows,
    stages: [...rows.stages, { k: 'replace', with: merge }],
    sources: [{ name, doc: field(), kind: documentKind(fields) }],
  };
}

/** The right side of a LEFT JOIN may be absent. */
function orEmpty(doc: Expr): Expr {
  return call('agg.ifNull', [doc, { k: 'doc', fields: [] }], '');
}

function unwound(from: From & { k: 'unwind' }, around: Around): Rows {
  const inner = compileFrom(from.of, around);
  const rows = inner.sources.length === 1 ? inner : wrapped(inner);
  let { sources } = rows;
  const stages = [...rows.stages];
  for (const { steps, at } of from.paths) {
    for (const { path, index: indexName, outer } of steps) {
      const { expr } = resolve(path, at, { sources });
      if (expr.k !== 'field') throw fault(at, 'UNWIND takes a path of fields');
      const [source] = sources.filter(
        ({ doc }) => doc.k === 'field' && doc.path.every((name, index) => expr.path[index] === name),
      );
      const base = source!.doc.k === 'field' ? source!.doc.path : [];
      if (indexName !== undefined) refuseTaken(indexName, source!, from);
      const index = indexName === undefined ? {} : { index: [...base, indexName] };
      stages.push({ k: 'unwind', path: expr.path, ...index, keepEmpty: outer });
      sources = sources.map((each) =>
        each === source ? { ...each, kind: unwoundKind(each.kind, expr.path.slice(base.length), indexName) } : each,
      );
    }
  }
  return { ...rows, stages, sources, atMost: Number.POSITIVE_INFINITY };
}

/** Refuses an index name that is, or may be, the name of a field. */
function refuseTaken(index: string, { name, kind }: Source, { at }: From): void {
  const found = kind.assumed === true ? 'cannot' : holds(kind, index);
  if (found === 'cannot') return;
  if (kind.fields?.has(index) === true) throw fault(at, `${name} has a field ${index}`, 'give INDEX another name');
  const hint = 'select the fields of the table by name, in a query in FROM';
  throw fault(at, `${name} may have a field ${index}, which INDEX would hide`, hint);
}

function unwoundKind(kind: Kind, path: readonly string[], index: string | undefined): Kind {
  const [name, ...rest] = path;
  const fields = new Map(kind.fields);
  if (name !== undefined) {
    const below = fieldOf(kind, name);
    fields.set(name, rest.length === 0 ? itemOf(below) : unwoundKind(below, rest, undefined));
  }
  if (index !== undefined) fields.set(index, kindOf('long', 'null'));
  return kind.types === undefined ? kind : { ...kind, fields };
}

function itemOf(kind: Kind): Kind {
  if (kind.types === undefined || !kind.types.has('array')) return kind;
  const items = kind.items ?? { open: true };
  const others = [...kind.types].filter((type) => !['array', 'null', 'missing'].includes(type));
  return others.length === 0 ? items : either(items, { ...kind, types: new Set(others) });
}
