/** The position in the query of an operator that refused a value: a path in MQL, line and column in SQL. */

import { functions } from '../functions/registry.ts';
import { QueryError } from '../query-error.ts';

/** SQL symbols for MQL names; SQL writes all other functions in capitals. */
const symbols: Readonly<Record<string, string>> = { add: '+', subtract: '-', multiply: '*', divide: '/', mod: '%' };

/** @param at site of the operator. @param fn its function in the plan. @returns the error, with its position if it had none. */
export function withPlace(error: unknown, at: string, fn: string): unknown {
  if (!(error instanceof QueryError) || error.path !== undefined || error.line !== undefined) return error;
  const [, line, column] = /^line (\d+), column (\d+)$/.exec(at) ?? [];
  if (line === undefined) return error.at({ path: at });
  const { code, reason, hint } = error;
  const place = { line: Number(line), column: Number(column) };
  return new QueryError(code, inSql(reason, fn), hint === undefined ? place : { ...place, hint });
}

function inSql(reason: string, fn: string): string {
  const text = reason.replace("can't $subtract", 'cannot subtract');
  return text.replace(/\$([a-z][A-Za-z0-9]*)/g, (found, name: string) => {
    if (functions.get(`agg.${name}`)?.eager === undefined) return found;
    if (fn === 'sql.negate') return '-';
    return symbols[name] ?? name.toUpperCase();
  });
}
