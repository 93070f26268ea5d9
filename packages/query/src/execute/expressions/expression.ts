/** Expressions become closures once per stage; the closures run once per row. */
import { BsonDate, BsonDocument } from '../../bson/value.ts';
import type { Eager, FunctionDefinition } from '../../functions/definition.ts';
import { functions } from '../../functions/registry.ts';
import { type Expr, nearVariable } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { measure, withinSizeLimits } from '../limits/size-limits.ts';
import { constant, constantOf } from './constant.ts';
import { compileElemMatch, compileMatch } from './filter.ts';
import { valueAt } from './path.ts';
import { type Evaluate, newFrame, type Slots } from './scope.ts';
import { isTruthy } from './truth.ts';

const noSlots: Slots = new Map();

export function compileExpression(expr: Expr, slots: Slots = noSlots): Evaluate {
  switch (expr.k) {
    case 'lit':
      return constant(expr.value);
    case 'field':
      return compileField(expr.path);
    case 'var':
      return compileVariable(expr.name, expr.path, slots);
    case 'doc':
      return compileDocument(expr.fields, slots);
    case 'bind':
      return expr.fn === 'match.elem' ? compileElemMatch(expr, compileExpression) : compileBinding(expr, slots);
    case 'call':
      return compileCall(expr, slots);
  }
}

function compileField(path: readonly string[]): Evaluate {
  if (path.length === 1) {
    const name = path[0]!;
    return (frame) => (frame.root instanceof BsonDocument ? frame.root.get(name) : valueAt(frame.root, path));
  }
  return (frame) => valueAt(frame.root, path);
}

function compileVariable(name: string, path: readonly string[], slots: Slots): Evaluate {
  const slot = slots.get(name);
  if (slot !== undefined) return (frame) => valueAt(frame.slots[slot], path);
  if (name === 'NOW') return (frame) => valueAt(new BsonDate(frame.nowMs), path);
  if (name === nearVariable) return (frame) => valueAt(frame.near, path);
  return (frame) => valueAt(frame.root, path);
}

function compileDocument(fields: readonly (readonly [string, Expr])[], slots: Slots): Evaluate {
  const compiled = fields.map(([name, value]) => [name, compileExpression(value, slots)] as const);
  const evaluate: Evaluate = (frame) => {
    const document = new BsonDocument();
    for (const [name, field] of compiled) {
      const value = field(frame);
      if (value !== undefined) document.set(name, value);
    }
    return withinSizeLimits(frame, document);
  };
  const isConstant = compiled.every(([, field]) => constantOf(field) !== undefined);
  return isConstant ? folded(evaluate) : evaluate;
}

function compileBinding(expr: Expr & { k: 'bind' }, slots: Slots): Evaluate {
  const args = expr.args.map((arg) => compileExpression(arg, slots));
  const inner = new Map(slots);
  const first = Math.max(-1, ...slots.values()) + 1;
  const places = expr.vars.map((_name, index) => first + index);
  for (const [index, name] of expr.vars.entries()) inner.set(name, first + index);
  const definition = functions.get(expr.fn);
  if (definition?.bind === undefined) throw unknownFunction(expr);
  const bound = definition.bind(args, places, compileExpression(expr.body, inner));
  const grows = definition.size === 'grows';
  return located(() => (grows ? (frame) => withinSizeLimits(frame, bound(frame)) : bound), expr.at);
}

function compileCall(expr: Expr & { k: 'call' }, slots: Slots): Evaluate {
  if (expr.fn.startsWith('match.')) return compileMatch(expr, (inner) => compileExpression(inner, slots));
  const args =
    expr.fn === 'agg.switch' ? reachableParts(expr.args, slots) : expr.args.map((arg) => compileExpression(arg, slots));
  const definition = functions.get(expr.fn);
  if (definition === undefined) throw unknownFunction(expr);
  const evaluate = compileFunction(expr, definition, args);
  const folds = expr.fn.startsWith('agg.') && definition.volatile !== true && definition.folding !== 'never';
  return folds && args.every((arg) => constantOf(arg) !== undefined) ? folded(evaluate) : evaluate;
}

/**
 * For a $switch: a branch that is never taken, or comes after one that is always taken, is not compiled, so its constants may fail. A case
 * that is always true becomes the default. With no branch left, the result is its default, if any, or one false case.
 */
function reachableParts(args: readonly Expr[], slots: Slots): Evaluate[] {
  const parts: Evaluate[] = [];
  let otherwise = args.length % 2 === 1 ? [compileExpression(args.at(-1)!, slots)] : [];
  for (let index = 0; index + 1 < args.length; index += 2) {
    const when = compileExpression(args[index]!, slots);
    const known = constantOf(when);
    if (known === undefined) parts.push(when, compileExpression(args[index + 1]!, slots));
    else if (isTruthy(known.value)) {
      otherwise = [compileExpression(args[index + 1]!, slots)];
      break;
    }
  }
  return [...parts, ...otherwise];
}

/** Larger values are built for each row, within the row's limits: a query may contain thousands of them. */
const maxFoldedBytes = 64 * 1024;

function folded(evaluate: Evaluate): Evaluate {
  const value = evaluate(newFrame(0));
  return measure(value, maxFoldedBytes) > maxFoldedBytes ? evaluate : constant(value);
}

function compileFunction(
  expr: Expr & { k: 'call' },
  { lazy, eager, size }: FunctionDefinition,
  args: readonly Evaluate[],
): Evaluate {
  const compile = lazy ?? (eager === undefined ? undefined : (values: readonly Evaluate[]) => applied(eager, values));
  if (compile === undefined) throw unknownFunction(expr);
  return located(
    () => {
      const evaluate = compile(args);
      return size === 'grows' ? (frame) => withinSizeLimits(frame, evaluate(frame)) : evaluate;
    },
    expr.at,
    expr.fn,
  );
}

function unknownFunction({ fn, at }: { readonly fn: string; readonly at: string }): QueryError {
  return new QueryError('InvalidPipelineOperator', `unknown function ${fn}`, { path: at });
}

function applied(fn: Eager, args: readonly Evaluate[]): Evaluate {
  const [first, second] = args;
  if (args.length === 1) return (frame) => fn(first!(frame));
  if (args.length === 2) return (frame) => fn(first!(frame), second!(frame));
  return (frame) => fn(...args.map((arg) => arg(frame)));
}

/** Adds the operator's position in the query to errors of values, and of constants that are evaluated during compilation. */
function located(compile: () => Evaluate, at: string, fn = ''): Evaluate {
  let evaluate: Evaluate;
  try {
    evaluate = compile();
  } catch (error) {
    throw withPlace(error, at, fn);
  }
  return (frame) => {
    try {
      return evaluate(frame);
    } catch (error) {
      throw withPlace(error, at, fn);
    }
  };
}

/** SQL symbols for MQL names; SQL writes all other functions in capitals. */
const symbols: Readonly<Record<string, string>> = { add: '+', subtract: '-', multiply: '*', divide: '/', mod: '%' };

/**
 * The position in the query of an operator that refused a value: a path in MQL, line and column in SQL. @param at site of the operator.
 * @param fn its function in the plan. @returns the error, with its position if it had none.
 */
function withPlace(error: unknown, at: string, fn: string): unknown {
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
