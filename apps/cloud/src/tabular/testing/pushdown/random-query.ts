/** A random query: a form that a backend could execute, or any mix of stages. */
import { type BsonDocument, encodeBson, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { firstRows, pushablePipeline } from './pushable-pipeline.ts';
import type { Random } from './random.ts';
import { randomStages } from './random-stages.ts';
import { randomStatement } from './random-statement.ts';

export type RandomQuery =
  | { readonly language: 'mql'; readonly pipeline: readonly BsonDocument[]; readonly pushable: boolean }
  | { readonly language: 'sql'; readonly statement: string; readonly pushable: boolean };

export function randomQuery(random: Random): RandomQuery {
  const form = random.int(10);
  if (form < 5) return { language: 'mql', pipeline: pushablePipeline(random), pushable: true };
  if (form < 7) return { language: 'sql', ...randomStatement(random) };
  const some = random.pick([pushablePipeline, pushablePipeline, firstRows, () => []])(random);
  return { language: 'mql', pipeline: [...some, ...randomStages(random)], pushable: false };
}

/** @throws QueryError */
export function planOf(query: RandomQuery): Plan {
  return query.language === 'sql'
    ? parseSql(query.statement)
    : parseMql(query.pipeline.map((stage) => encodeBson(stage)));
}
