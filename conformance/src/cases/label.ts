/** The names under which a case is counted. */

import { BsonDocument, type BsonValue } from '@platform/query';
import type { Case } from './case.ts';

/** Each distinct stage of the pipeline; for SQL the file in the suite, which is named after its clause. */
export function stageLabels(given: Case): string[] {
  if (given.k === 'sql') return [given.name.split(/[:.]/, 1)[0] ?? ''];
  return [...new Set(given.stages)];
}

/**
 * The operator in the case's path (`…/expressions/array/filter/…` → `$filter`). If the path names none and is not about a stage either,
 * every operator in the pipeline.
 */
export function operatorLabels(given: Case): string[] {
  if (given.k === 'sql') return [];
  const folders = given.name.split('::')[0]!.split('/').slice(0, -1);
  const kind = folders.findIndex(
    (folder) => folder === 'expressions' || folder === 'accumulators' || folder === 'query',
  );
  const depth = folders[kind] === 'accumulators' ? 1 : 2;
  const operator = kind < 0 ? undefined : folders[kind + depth];
  if (operator !== undefined) return [`$${operator}`];
  return folders.includes('stages') ? [] : [...operatorsIn(given.pipeline)];
}

function operatorsIn(pipeline: readonly BsonDocument[]): Set<string> {
  const found = new Set<string>();
  const visit = (value: BsonValue): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!(value instanceof BsonDocument)) return;
    for (const [name, below] of value) {
      if (/^\$[a-zA-Z]/.test(name)) found.add(name);
      visit(below);
    }
  };
  for (const stage of pipeline) for (const spec of stage.values()) visit(spec);
  return found;
}
