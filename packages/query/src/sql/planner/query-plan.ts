/** Queries: a SELECT, a union, or one preceded by named queries. */
import type { Stage } from '../../plan/stage.ts';
import { expressionsOf, type From, partsOf, type Query, type Select, type SqlNode } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { either, maybeMissing } from '../types/kind.ts';
import { Block } from './block.ts';
import { compileFrom } from './from-plan.ts';
import { grouped } from './group-plan.ts';
import { type Around, distinctStages, isBare, type Rows, wrapped } from './rows.ts';
import type { Source } from './scope.ts';
import { projectionOf } from './select-list.ts';
import { sortStages } from './sort-plan.ts';

/** Limit on compiled queries: queries that name each other by WITH double with each step. */
const maxQueries = 1000;

export function compileQuery(query: Query, around: Around): Rows {
  if (++around.compiled.queries > maxQueries)
    throw fault(query.at, `a statement can run at most ${maxQueries} queries`);
  switch (query.k) {
    case 'select':
      return compileSelect(query, around);
    case 'union':
      return united(query, around);
    case 'with': {
      const named = new Map(around.named);
      for (const [name, each] of query.tables) {
        if (query.tables.filter(([other]) => other === name).length > 1)
          throw fault(each.at, `two queries are named ${name}`);
        named.delete(name);
        named.set(name, each);
      }
      return compileQuery(query.query, { ...around, named });
    }
  }
}

function united(query: Query & { k: 'union' }, around: Around): Rows {
  let left = compileQuery(query.left, around);
  let right = compileQuery(query.right, around);
  if (!(isBare(left) && isBare(right) && left.sources[0]!.name === right.sources[0]!.name)) {
    left = wrapped(left);
    right = wrapped(right);
  }
  const sources = left.sources.map((source): Source => {
    const other = right.sources.find(({ name }) => name === source.name);
    return { ...source, kind: other === undefined ? maybeMissing(source.kind) : either(source.kind, other.kind) };
  });
  for (const source of right.sources) {
    if (!left.sources.some(({ name }) => name === source.name))
      sources.push({ ...source, kind: maybeMissing(source.kind) });
  }
  const union: Stage = { k: 'union', right: { source: right.source, stages: right.stages } };
  const stages = [...left.stages, union, ...(query.all ? [] : distinctStages())];
  return { source: left.source, stages, sources, atMost: left.atMost + right.atMost };
}

/**
 * SELECT becomes stages: FROM, filter, group, filter (HAVING), sort, slice, and the columns last; with DISTINCT the columns precede sort
 * and slice.
 */
function compileSelect(select: Select, around: Around): Rows {
  const from = compileFrom(select.from ?? dual(select), around);
  const needsRoom = hasSubquery(select);
  const early: SqlNode[] = [];
  const late: SqlNode[] = [];
  // Conditions on a single table precede the rebuilding of its rows, so that a backend can see them.
  for (const term of termsOf(select.where)) (needsRoom && !hasSubquery(term) ? early : late).push(term);
  const first = Block.of(from, around);
  for (const term of early) first.filter(term, 'WHERE', select.items);
  const start = { ...from, stages: first.stages };
  const rows = needsRoom ? wrapped(start) : start;
  const before = Block.of(rows, around);
  const where = needsRoom ? late : select.where === undefined ? [] : [select.where];
  for (const term of where) before.filter(term, 'WHERE', select.items);
  const block = grouped(select, before) ?? before;
  if (select.having !== undefined) block.filter(select.having, 'HAVING', select.items);

  const projection = projectionOf(select, block);
  const slice = sliceOf(select);
  const top = slice.length > 0 && select.limit !== undefined ? { top: select.offset + select.limit } : {};
  const sort = sortStages(select, block, projection, top);
  const tail = select.distinct ? [...distinctStages(), ...sort.stages, ...slice] : [];
  const stages = select.distinct
    ? [...block.stages, ...projection.stages, ...tail]
    : [
        ...block.stages,
        ...sort.stages,
        ...slice,
        ...projection.stages,
        ...(projection.stages.length === 0 ? sort.clean : []),
      ];
  const isOne = block !== before && (select.groupBy ?? []).every(({ value }) => value.k === 'literal');
  const groups = isOne ? 1 : from.atMost;
  return {
    source: from.source,
    stages,
    sources: projection.sources,
    atMost: Math.min(groups, select.limit ?? Number.POSITIVE_INFINITY),
  };
}

/** Without FROM there is one row without fields. */
function dual({ at }: Select): From {
  return { k: 'array', items: [{ k: 'document', fields: [], at }], alias: '_dual', at };
}

function termsOf(where: SqlNode | undefined): readonly SqlNode[] {
  if (where === undefined) return [];
  return where.k === 'call' && where.fn === 'sql.and' ? where.args : [where];
}

function sliceOf(select: Select): Stage[] {
  if (select.limit === undefined && select.offset === 0) return [];
  return [{ k: 'slice', skip: select.offset, ...(select.limit === undefined ? {} : { limit: select.limit }) }];
}

/** Whether an expression, or a SELECT outside FROM, has subqueries. */
function hasSubquery(part: SqlNode | Select): boolean {
  if (part.k !== 'select') return part.k === 'subquery' || partsOf(part).some(hasSubquery);
  return [
    ...expressionsOf(part.items),
    ...(part.groupBy ?? []).map(({ value }) => value),
    ...part.aggregates.map(({ value }) => value),
    ...part.orderBy.map(({ value }) => value),
    ...[part.where, part.having].filter((node) => node !== undefined),
  ].some(hasSubquery);
}
