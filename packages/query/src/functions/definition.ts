/** What defines a function of expressions: how the languages write it, what it computes, and what planners may assume of it. */

import type { BsonValue, Maybe } from '../bson/value.ts';
import type { Evaluate } from '../execute/expressions/scope.ts';
import type { Expr } from '../plan/expr.ts';
import type { SqlSignature } from '../sql/types/signature.ts';

/** Gets values. */
export type Eager = (...values: Maybe[]) => Maybe;

/** Gets closures, since it may leave some unevaluated. */
export type Lazy = (args: readonly Evaluate[]) => Evaluate;

/** Evaluates a body over bound variables, whose slots are in the order of the expression's `vars`. */
export type Bind = (args: readonly Evaluate[], slots: readonly number[], body: Evaluate) => Evaluate;

/** Exactly so many arguments, or at least and at most. */
export type Arity = number | readonly [least: number, most: number];

export function atLeast(least: number): Arity {
  return [least, Number.POSITIVE_INFINITY];
}

/** What a parser of an operand may ask for. */
export interface OperandContext {
  /** Where the operator stands, for errors. */
  readonly at: string;
  /** Names of the variables that are bound around the operator. */
  readonly vars: readonly string[];
  /** Parses an expression in the operand: `at` and `vars` default to those of the operator. */
  readonly parse: (value: BsonValue, at?: string, vars?: readonly string[]) => Expr;
  /** The value of an expression that reads no field and no variable, else undefined. */
  readonly constant: (expr: Expr) => { readonly value: Maybe } | undefined;
}

/** Parses an operand that is not just a list of expressions, such as an object with named fields. */
export type ParseOperand = (operand: BsonValue, context: OperandContext) => Expr;

/** Every fact that is left out is the careful one, except `size`. */
export interface FunctionFacts {
  /** How MQL writes the operator of that name. Absent: it does not have one. */
  readonly mql?: Arity | ParseOperand;
  /** MongoDB's code for a wrong number of arguments. Default: 16020, or 28667 where the number may vary. */
  readonly arityCode?: number;
  /** Absent: statements cannot call it, and nothing is known of its types. */
  readonly sql?: SqlSignature;

  /**
   * `bounded`: the value is a number, a time, true or false, or one of the arguments, so little input stays little work.
   * `grows`: the value grows with the arguments, so it is counted against the limits on sizes.
   */
  readonly size?: 'bounded' | 'grows';
  /**
   * No values of the arguments make it fail, so rows may be filtered behind it; or only where the arguments are true, false or null
   * themselves; or which arguments it is true of.
   */
  readonly neverFails?: true | 'of conditions' | ((args: readonly Expr[]) => boolean);
  /**
   * What MQL calls with constant arguments is computed once for each stage. `early`: in the leading filters also while the query is
   * planned, from SQL too, so it must take next to no time. `never`: for each row, since the value is large however short the query is.
   */
  readonly folding?: 'early' | 'never';
  /** The value differs from row to row even if the arguments are the same. */
  readonly volatile?: true;
  /** The types of numbers that the value may be or hold: none, one, or those of these arguments. Absent: any. */
  readonly numberTypes?: 'none' | 'int' | 'long' | ((args: readonly Expr[]) => readonly Expr[]);
}

/** One of these computes it; none where `mql` or `sql` puts other functions in its place. */
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

/** By their names in plans: `agg.` and MQL's name, or `sql.` and a name for what only SQL computes in that way. */
export type Functions = Readonly<Record<string, FunctionDefinition>>;
