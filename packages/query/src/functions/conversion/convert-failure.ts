/** The error for a value that cannot be converted; onError of $convert catches it. */

import { typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';

export function failure(value: Maybe, to: string, why = ''): QueryError {
  const what = typeof value === 'string' ? `'${value.slice(0, 80)}'` : `a value of type ${typeName(value)}`;
  return new QueryError('ConversionFailure', `cannot convert ${what} to ${to}${why === '' ? '' : `: ${why}`}`);
}
