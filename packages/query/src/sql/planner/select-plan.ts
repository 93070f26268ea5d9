/**
 * SELECT becomes stages: FROM, filter, group, filter (HAVING), sort, slice, and the columns last; with DISTINCT the columns precede sort
 * and slice.
 */

import type { Stage } from '../../plan/stage.ts';
import type { From, Select, SqlNode } from '../parser/ast.ts';
import { hasSubquery } from '../parser/subqueries-in.ts';
import { Block } from './block.ts';
import { compileFrom } from './from-plan.ts';
import { grouped } from './group-plan.ts';
import { type Around, distinctStages, type Rows, wrapped } from './rows.ts';
import { projectionOf } from './select-list.ts';
import { sortStages } from './sort-plan.ts';

export function compileSelect(select: Select, around: Around): Rows {
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
