/** The functions and aggregates of SQL by their names in statements. */

import type { SqlAggregateSignature } from '../accumulators/definition.ts';
import { accumulators } from '../accumulators/registry.ts';
import type { BsonValue } from '../bson/value.ts';
import { functions } from '../functions/registry.ts';

/** The function of the plan, for this number of arguments, and the literals appended to them. */
interface SqlCall {
  readonly fn: string;
  readonly least: number;
  readonly most: number;
  readonly added: readonly BsonValue[];
}

const calls = [...functions].flatMap(([fn, { sql }]) =>
  (sql?.names ?? []).map(([name, least, most, ...added]) => ({ name, call: { fn, least, most, added } })),
);

export const sqlFunctions: ReadonlyMap<string, readonly SqlCall[]> = new Map(
  calls.map(({ name }) => [name, calls.filter((each) => each.name === name).map(({ call }) => call)]),
);

export const sqlAggregates: ReadonlyMap<string, SqlAggregateSignature & { readonly fn: string }> = new Map(
  [...accumulators].flatMap(([fn, { sql }]) => (sql === undefined ? [] : [[sql.name, { ...sql, fn }]])),
);
