/** What defines a function of expressions: how the languages write it, what it computes, and what planners may assume of it. */

import type { BsonValue, Maybe } from '../bson/value.ts';
import type { Evaluate } from '../execute/expressions/scope.ts';
import type { Expr } from '../plan/expr.ts';
import type { SqlSignature } from '../sql/types/signature.ts';

/** Receives values. */
export type Eager = (...values: Maybe[]) => Maybe;

/** Receives closures, because it may leave some unevaluated. */
export type Lazy = (args: readonly Evaluate[]) => Evaluate;

/** Evaluates a body over bound variables, whose slots are in the order of the expression's `vars`. */
export type Bind = (args: readonly Evaluate[], slots: readonly number[], body: Evaluate) => Evaluate;

/** An exact number of arguments, or a minimum and maximum. */
export type Arity = number | readonly [least: number, most: number];

export function atLeast(least: number): Arity {
  return [least, Number.POSITIVE_INFINITY];
}

/** What an operand's parser can use. */
export interface OperandContext {
  /** The position of the operator, for errors. */
  readonly at: string;
  /** Variables that are in scope at the operator. */
  readonly vars: readonly string[];
  /** Parses an expression in the operand: `at` and `vars` default to those of the operator. */
  readonly parse: (value: BsonValue, at?: string, vars?: readonly string[]) => Expr;
  /** The value of an expression that reads no field and no variable, otherwise undefined. */
  readonly constant: (expr: Expr) => { readonly value: Maybe } | undefined;
}

/** Parses an operand that is not just a list of expressions, such as an object with named fields. */
export type ParseOperand = (operand: BsonValue, context: OperandContext) => Expr;

/** Omitting an optional property is always the safe choice, except for `size`. */
export interface FunctionFacts {
  /** How MQL writes the operator of this name. Absent: MQL does not have it. */
  readonly mql?: Arity | ParseOperand;
  /** MongoDB's code for a wrong number of arguments. Default: 16020, or 28667 if the number may vary. */
  readonly arityCode?: number;
  /** Absent: statements cannot call it, and its types are unknown. */
  readonly sql?: SqlSignature;

  /**
   * `bounded`: the value is a number, a time, true or false, or one of the arguments, so small input means little work. `grows`: the value
   * grows with the arguments, so it counts against the limits on sizes.
   */
  readonly size?: 'bounded' | 'grows';
  /**
   * No argument values make it fail, so rows may be filtered after it; or only if the arguments themselves are true, false or null; or a
   * test of the arguments.
   */
  readonly neverFails?: true | 'of conditions' | ((args: readonly Expr[]) => boolean);
  /**
   * When calls with constant arguments are computed. Default: once per stage, for MQL. `early`: also during planning, in the leading
   * filters, even from SQL, so it must take almost no time. `never`: for each row, because the value is large however short the query is.
   */
  readonly folding?: 'early' | 'never';
  /** The value differs from row to row even for the same arguments. */
  readonly volatile?: true;
  /** The number types that the value may be or contain: none, one, or those of these arguments. Absent: any. */
  readonly numberTypes?: 'none' | 'int' | 'long' | ((args: readonly Expr[]) => readonly Expr[]);
}

/** One of these properties computes it; there is none if `mql` or `sql` replaces it by other functions. */
export interface FunctionDefinition extends FunctionFacts {
  readonly eager?: Eager;
  readonly lazy?: Lazy;
  readonly bind?: Bind;
}

export function eager(facts: FunctionFacts, compute: Eager): FunctionDefinition {
  return { ...facts, eager: compute };
}

export function lazy(facts: FunctionFacts, compute: Lazy): FunctionDefinition {
  return { ...facts, lazy: compute };
}

/** By their names in plans: `agg.` and MQL's name, or `sql.` and a name for functions that only SQL computes in this way. */
export type Functions = Readonly<Record<string, FunctionDefinition>>;
