/** How statements call a function of the plan, and its argument and result types, as far as they are known before data is read. */

import type { TypeName } from '../../bson/type.ts';
import type { BsonValue } from '../../bson/value.ts';
import { booleans, type Kind, kindOf, numbers, widest } from './kind.ts';

export interface SqlSignature {
  /** Absent: it is written as an operator, or has its own syntax. */
  readonly names?: readonly SqlName[];
  /** Types by argument; the last entry also applies to further arguments. Absent: any. */
  readonly takes?:
    | readonly (readonly TypeName[])[]
    | ((index: number, count: number) => readonly TypeName[] | undefined);
  /** Absent: anything. */
  readonly gives?: Kind | ((args: readonly Kind[]) => Kind);
  /** Its arguments are compared with each other. */
  readonly compares?: true;
}

/** A name, its number of arguments, and the literals appended to them. One name may have several entries. */
export type SqlName = readonly [name: string, least: number, most: number, ...added: BsonValue[]];

export const dateType: readonly TypeName[] = ['date'];
export const stringType: readonly TypeName[] = ['string'];
export const boolType: readonly TypeName[] = ['bool'];

export const numberOrNull: Kind = kindOf(...numbers, 'null');
export const textOrNull: Kind = kindOf('string', 'null');
export const intOrNull: Kind = kindOf('int', 'null');

export const comparing: SqlSignature = { gives: booleans, compares: true };
export const logical: SqlSignature = { takes: [boolType], gives: booleans };
export const predicate: SqlSignature = { gives: kindOf('bool') };
/** The result for whole numbers is whole. */
export const ofWidestType: SqlSignature = { takes: [numbers], gives: widest };
export const numeric: SqlSignature = { takes: [numbers], gives: numberOrNull };
export const textual: SqlSignature = { takes: [stringType], gives: textOrNull };
export const measuring: SqlSignature = { takes: [stringType], gives: intOrNull };
export const datePart: SqlSignature = { takes: [dateType], gives: intOrNull };

/** The signature with the names under which statements call the function. */
export function named(signature: SqlSignature, ...names: readonly SqlName[]): SqlSignature {
  return { ...signature, names };
}
