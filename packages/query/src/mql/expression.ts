/** Aggregation expressions: field paths, variables, literals and operators. */
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import { compileExpression } from '../execute/expressions/expression.ts';
import { newFrame } from '../execute/expressions/scope.ts';
import type { FunctionDefinition, OperandContext } from '../functions/definition.ts';
import { functions, operators } from '../functions/registry.ts';
import { call, type Expr, literal, type Path } from '../plan/expr.ts';
import type { Constant } from '../plan/window.ts';
import { malformed, QueryError, withErrorsAt } from '../query-error.ts';
import { parseFieldPath } from './path.ts';

/** Parses an expression; `vars` are the variables bound by the $map, $filter and $let around it. */
export function parseExpression(value: BsonValue, at: string, vars: readonly string[] = []): Expr {
  if (typeof value === 'string') {
    if (!value.startsWith('$')) return literal(value);
    return withErrorsAt({ path: at }, () => parseReference(value, vars));
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => parseExpression(item, `${at}.${index}`, vars));
    // Uses the parsed values, because `$literal` and `$$REMOVE` in an array differ from their spelling.
    const values = items.flatMap((item) => (item.k === 'lit' ? [item.value ?? null] : []));
    return values.length === items.length ? literal(values) : call('agg.array', items, at);
  }
  if (!(value instanceof BsonDocument)) return literal(value);
  const [entry] = value;
  if (entry === undefined) return literal(value);
  if (entry[0].startsWith('$')) {
    if (value.size > 1) {
      const found = [...value.keys()].join(', ');
      throw new QueryError(15983, `an object that is an expression must have exactly one field, found ${found}`, {
        path: at,
      });
    }
    return parseOperator(entry[0], entry[1], `${at}.${entry[0]}`, vars);
  }
  const fields = [...value].map(([name, item]): [string, Expr] => {
    if (name === '') throw new QueryError(15998, 'a field name must not be empty', { path: at });
    if (name.startsWith('$')) {
      throw new QueryError(16410, `a field name must not start with '$': '${name}'`, { path: at });
    }
    if (name.includes('\0')) throw new QueryError(16411, 'a field name must not contain a null byte', { path: at });
    if (name.includes('.')) throw new QueryError(16412, `a field name must not contain a dot: '${name}'`, { path: at });
    return [name, parseExpression(item, `${at}.${name}`, vars)];
  });
  return { k: 'doc', fields };
}

function parseReference(text: string, vars: readonly string[]): Expr {
  if (!text.startsWith('$$')) {
    if (text === '$') throw new QueryError(16872, "'$' by itself is not a field path");
    return fieldOf(parseFieldPath(text.slice(1)), vars);
  }
  if (text === '$$') throw malformed('empty variable names are not allowed');
  const dot = text.indexOf('.');
  const name = dot < 0 ? text.slice(2) : text.slice(2, dot);
  if (!/^[A-Za-z\u0080-\uffff][\w\u0080-\uffff]*$/.test(name)) {
    throw malformed(`a variable name has letters, digits and '_', found '${name}'`);
  }
  checkKnown(name, vars);
  if (text.endsWith('.')) throw new QueryError(40353, `a field path must not end with a dot: '${text}'`);
  const path = dot < 0 ? [] : parseFieldPath(text.slice(dot + 1));
  if (vars.includes(name)) return { k: 'var', name, path };
  if (name === 'CURRENT') return { k: 'field', path };
  return name === 'REMOVE' ? literal(undefined) : { k: 'var', name, path };
}

const systemVariables: readonly string[] = ['ROOT', 'CURRENT', 'NOW', 'REMOVE'];

function checkKnown(name: string, vars: readonly string[]): void {
  const known = [...systemVariables, ...vars];
  if (known.includes(name)) return;
  if (name === 'CLUSTER_TIME') {
    throw new QueryError(10071200, '$$CLUSTER_TIME exists only where there is a cluster', { hint: 'use $$NOW' });
  }
  throw new QueryError(17276, `use of undefined variable: ${name}`, { hint: `known here: ${known.join(', ')}` });
}

/** Paths start at $$CURRENT: the row, unless a variable of that name is bound. */
function fieldOf(path: Path, vars: readonly string[]): Expr {
  return vars.includes('CURRENT') ? { k: 'var', name: 'CURRENT', path } : { k: 'field', path };
}

/** Hints for names that are known elsewhere. */
const hints: Readonly<Record<string, string | undefined>> = {
  $function: 'server-side JavaScript is not supported',
  $accumulator: 'server-side JavaScript is not supported',
  $push: '$push is an accumulator: use it in $group or $setWindowFields',
  $addToSet: '$addToSet is an accumulator: use it in $group or $setWindowFields',
  $count: 'for the length of an array use $size',
  $exists: 'as an expression, $exists is {$ne: [{$type: path}, "missing"]}',
  $regex: 'as an expression, $regex is $regexMatch',
  $elemMatch: 'as an expression, $elemMatch is $filter or $anyElementTrue',
};

function parseOperator(name: string, operand: BsonValue, at: string, vars: readonly string[]): Expr {
  const operator = operators.get(name);
  if (operator === undefined) {
    const hint = Object.hasOwn(hints, name) ? hints[name] : undefined;
    const place = { path: at, ...(hint === undefined ? {} : { hint }) };
    throw new QueryError('InvalidPipelineOperator', `unrecognized expression '${name}'`, place);
  }
  const { fn, definition } = operator;
  if (typeof definition.mql === 'function') {
    const { mql } = definition;
    return withErrorsAt({ path: at }, () => mql(operand, operandContext(at, vars)));
  }
  const operands = Array.isArray(operand) ? operand : [operand];
  checkArity(name, operands.length, definition, at);
  return call(
    fn,
    operands.map((item) => parseExpression(item, at, vars)),
    at,
  );
}

function checkArity(name: string, count: number, { mql, arityCode }: FunctionDefinition, at: string): void {
  const [least, most] = typeof mql === 'number' ? [mql, mql] : (mql as readonly [number, number]);
  if (count >= least && count <= most) return;
  const isFixed = least === most;
  const range = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
  throw new QueryError(
    arityCode ?? (isFixed ? 16020 : 28667),
    `${name} takes ${isFixed ? `exactly ${least}` : range} arguments, found ${count}`,
    { path: at },
  );
}

/** @param vars variables that are in scope at this position. */
export function operandContext(at: string, vars: readonly string[] = []): OperandContext {
  return {
    at,
    vars,
    parse: (value, below = at, bound = vars) => parseExpression(value, below, bound),
    constant: constantOf,
  };
}

/**
 * Arguments that must not depend on the row are computed when the query is parsed. @returns undefined if the expression reads a field or a
 * variable. @throws QueryError of its operators.
 */
export function constantOf(expr: Expr): Constant | undefined {
  if (!isConstant(expr)) return undefined;
  return { k: 'lit', value: compileExpression(expr)(newFrame(0)) };
}

function isConstant(expr: Expr): boolean {
  switch (expr.k) {
    case 'lit':
      return true;
    case 'call':
      return functions.get(expr.fn)?.volatile !== true && expr.args.every(isConstant);
    case 'doc':
      return expr.fields.every(([, value]) => isConstant(value));
    default:
      return false;
  }
}
