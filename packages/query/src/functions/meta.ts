/** $literal, and $meta: what other stages know about a row. Here only $geoNear knows more than the row contains. */

import { describe } from '../bson/describe.ts';
import type { BsonValue } from '../bson/value.ts';
import { type Expr, literal, near } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import type { Functions } from './definition.ts';

/** Missing on rows that do not have them. */
const mayBeMissing: readonly string[] = [
  ...[
    'indexKey',
    'randVal',
    'recordId',
    'searchHighlights',
    'searchRootDocumentId',
    'searchScore',
    'searchScoreDetails',
  ],
  ...['searchSequenceToken', 'sortKey', 'timeseriesBucketMinTime', 'timeseriesBucketMaxTime', 'vectorSearchScore'],
];

/** An error if no previous stage has produced them. */
const required: readonly string[] = ['score', 'scoreDetails', 'textScore'];

export const meta: Functions = {
  'agg.meta': { mql: parseMeta },
  'agg.literal': { mql: (operand) => literal(operand) },
  'agg.const': { mql: (operand) => literal(operand) },
};

function parseMeta(operand: BsonValue): Expr {
  if (typeof operand !== 'string') throw new QueryError(17307, `$meta takes a string, found ${describe(operand)}`);
  if (operand === 'geoNearDistance') return near('distance');
  if (operand === 'geoNearPoint') return near('point');
  if (required.includes(operand)) throw new QueryError(40218, `$meta: no earlier stage produces ${operand}`);
  if (!mayBeMissing.includes(operand)) throw new QueryError(17308, `unsupported argument to $meta: ${operand}`);
  return literal(undefined);
}
