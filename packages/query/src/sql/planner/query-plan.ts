/** Queries: a SELECT, a union, or one preceded by named queries. */

import type { Stage } from '../../plan/stage.ts';
import type { Query } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { either, maybeMissing } from '../types/kind.ts';
import { type Around, distinctStages, isBare, type Rows, wrapped } from './rows.ts';
import type { Source } from './scope.ts';
import { compileSelect } from './select-plan.ts';

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
