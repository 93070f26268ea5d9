/** Arguments by name, for functions of which several may be absent. */

import type { Maybe } from '../../bson/value.ts';
import { constantOf } from '../expressions/constant.ts';
import type { Evaluate } from '../expressions/scope.ts';

/** The first argument is a constant list of the names of the others. */
export function namedArguments([names, ...values]: readonly Evaluate[]): ReadonlyMap<Maybe, Evaluate> {
  const list = names === undefined ? undefined : constantOf(names)?.value;
  return new Map(Array.isArray(list) ? list.map((name, index) => [name, values[index]!]) : []);
}
