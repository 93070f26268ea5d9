/** The fields that $group and the `output` of $bucket and $bucketAuto compute: a name and one accumulator each. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { withGroupCode } from '../../group-codes.ts';
import type { Accumulator } from '../../plan/accumulator.ts';
import { QueryError } from '../../query-error.ts';
import { accumulatorNames, parseAccumulator } from '../accumulator.ts';

export function parseAccumulatorField(name: string, spec: BsonValue, stage: string): readonly [string, Accumulator] {
  const path = `${stage}.${name}`;
  const refused = (code: number, reason: string, hint?: string): QueryError =>
    new QueryError(code, reason, hint === undefined ? { path } : { path, hint });
  if (!(spec instanceof BsonDocument)) {
    throw refused(40234, `the field '${name}' must be an accumulator object, found ${describe(spec)}`);
  }
  const [entry] = spec;
  if (entry === undefined || !entry[0].startsWith('$')) {
    throw refused(40234, `the field '${name}' must be an accumulator object, found ${describe(spec)}`);
  }
  if (name.includes('.')) throw new QueryError(40235, `the field '${name}' of ${stage} must not contain a dot`);
  if (name.startsWith('$')) throw new QueryError(40236, `the field '${name}' of ${stage} must not start with '$'`);
  const [operator, argument] = entry;
  if (spec.size > 1) {
    throw refused(40238, `the field '${name}' must name one accumulator, found ${[...spec.keys()].join(', ')}`);
  }
  const accumulator = parsed(operator, argument, `${path}.${operator}`, stage);
  if (accumulator !== undefined) return [name, accumulator];
  if (operator === '$accumulator') {
    throw refused(15952, '$accumulator is server-side JavaScript, which this platform does not run');
  }
  throw refused(15952, `unknown group operator '${operator}'`, `the accumulators are ${accumulatorNames.join(', ')}`);
}

/** $bucket has the codes of $group, because it is rewritten as one. $bucketAuto is not. */
function parsed(operator: string, argument: BsonValue, at: string, stage: string): Accumulator | undefined {
  try {
    return parseAccumulator(operator, argument, at);
  } catch (error) {
    throw stage.startsWith('$bucketAuto') ? error : withGroupCode(error);
  }
}
