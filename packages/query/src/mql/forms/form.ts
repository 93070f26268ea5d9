/** What parses an operator whose argument is not just a list of expressions. */

import type { BsonValue } from '../../bson/value.ts';
import type { Expr } from '../../plan/expr.ts';

/** Parses an expression below: `at` and `vars` default to those of the operator. */
export type ParseBelow = (value: BsonValue, at?: string, vars?: readonly string[]) => Expr;

/** `at` is the operator's own place; `vars` are the variables bound around it. */
export type SpecialForm = (operand: BsonValue, at: string, vars: readonly string[], parse: ParseBelow) => Expr;
