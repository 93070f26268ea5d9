/** Operators whose argument is an object with named parts, or that bind variables. */

import { BsonDocument, type BsonValue } from '../bson/value.ts';
import { call, type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { describe } from './describe.ts';

type ParseBelow = (value: BsonValue, at?: string, vars?: readonly string[]) => Expr;
type SpecialForm = (operand: BsonValue, at: string, vars: readonly string[], parse: ParseBelow) => Expr;

export const specialForms: Readonly<Record<string, SpecialForm>> = {
  $literal: (operand) => literal(operand),
  $const: (operand) => literal(operand),
  $cond: parseCond,
  $switch: parseSwitch,
  $map: parseMap,
  $filter: parseFilterArray,
  $let: parseLet,
  $dateTrunc: parseDateTrunc,
  $dateToString: parseDateToString,
  ...Object.fromEntries(
    ['year', 'month', 'dayOfMonth', 'hour', 'minute', 'second', 'millisecond', 'dayOfWeek', 'dayOfYear'].map((part) => [
      `$${part}`,
      datePart(part),
    ]),
  ),
};

interface Fields {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly notObject: number;
  readonly unknown: number;
  readonly missing: number | Readonly<Record<string, number>>;
}

function namedParts(operand: BsonValue, at: string, fields: Fields): BsonDocument {
  const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
  const all = [...fields.required, ...fields.optional].join(', ');
  if (!(operand instanceof BsonDocument)) {
    throw fail(fields.notObject, `expected an object with the fields ${all}, found ${describe(operand)}`);
  }
  for (const name of operand.keys()) {
    if (!fields.required.includes(name) && !fields.optional.includes(name)) {
      throw fail(fields.unknown, `unrecognized parameter '${name}', expected ${all}`);
    }
  }
  for (const name of fields.required) {
    if (operand.has(name)) continue;
    const code = typeof fields.missing === 'number' ? fields.missing : fields.missing[name]!;
    throw fail(code, `missing '${name}' parameter`);
  }
  return operand;
}

function parseCond(operand: BsonValue, at: string, _vars: readonly string[], parse: ParseBelow): Expr {
  if (!(operand instanceof BsonDocument)) {
    const operands = Array.isArray(operand) ? operand : [operand];
    if (operands.length !== 3) {
      throw new QueryError(16020, `$cond takes exactly 3 arguments, found ${operands.length}`, { path: at });
    }
    return call(
      'agg.cond',
      operands.map((item) => parse(item)),
      at,
    );
  }
  const parts = namedParts(operand, at, {
    required: ['if', 'then', 'else'],
    optional: [],
    notObject: 17080,
    unknown: 17083,
    missing: Object.fromEntries([
      ['if', 17080],
      ['then', 17081],
      ['else', 17082],
    ]),
  });
  return call('agg.cond', [parse(parts.get('if')!), parse(parts.get('then')!), parse(parts.get('else')!)], at);
}

/** Arguments in turn: case, then, case, then, …, and the default if there is one (an odd count). */
function parseSwitch(operand: BsonValue, at: string, _vars: readonly string[], parse: ParseBelow): Expr {
  const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
  if (!(operand instanceof BsonDocument)) throw fail(40060, `$switch takes an object, found ${describe(operand)}`);
  const args: Expr[] = [];
  for (const [name, value] of operand) {
    if (name === 'default') continue;
    if (name !== 'branches') throw fail(40067, `$switch found an unknown argument: ${name}`);
    if (!Array.isArray(value)) throw fail(40061, `$switch takes an array of branches, found ${describe(value)}`);
    for (const branch of value) {
      if (!(branch instanceof BsonDocument)) throw fail(40062, `a branch must be an object, found ${describe(branch)}`);
      for (const key of branch.keys()) {
        if (key !== 'case' && key !== 'then') throw fail(40063, `a branch has case and then, found '${key}'`);
      }
      const [when, then] = [branch.get('case'), branch.get('then')];
      if (when === undefined) throw fail(40064, "a branch needs a 'case'");
      if (then === undefined) throw fail(40065, "a branch needs a 'then'");
      args.push(parse(when), parse(then));
    }
  }
  if (args.length === 0) throw fail(40068, '$switch needs at least one branch');
  const otherwise = operand.get('default');
  if (otherwise !== undefined) args.push(parse(otherwise));
  return call('agg.switch', args, at);
}

function variableName(name: string, at: string): string {
  if (name === '') throw new QueryError('FailedToParse', 'empty variable names are not allowed', { path: at });
  if (!/^[a-z\u0080-\uffff][\w\u0080-\uffff]*$/.test(name)) {
    throw new QueryError('FailedToParse', `a variable name starts with a lower-case letter, found '${name}'`, {
      path: at,
    });
  }
  return name;
}

function loopVariable(parts: BsonDocument, at: string): string {
  const as = parts.get('as');
  if (as === undefined) return 'this';
  if (typeof as !== 'string')
    throw new QueryError('FailedToParse', `'as' must be a string, found ${describe(as)}`, { path: at });
  return variableName(as, at);
}

function parseMap(operand: BsonValue, at: string, vars: readonly string[], parse: ParseBelow): Expr {
  const parts = namedParts(operand, at, {
    required: ['input', 'in'],
    optional: ['as'],
    notObject: 16878,
    unknown: 16879,
    missing: { input: 16880, in: 16882 },
  });
  const name = loopVariable(parts, at);
  const body = parse(parts.get('in')!, `${at}.in`, [...vars, name]);
  return { k: 'bind', fn: 'map', vars: [name], args: [parse(parts.get('input')!)], body, at };
}

function parseFilterArray(operand: BsonValue, at: string, vars: readonly string[], parse: ParseBelow): Expr {
  const parts = namedParts(operand, at, {
    required: ['input', 'cond'],
    optional: ['as', 'limit'],
    notObject: 28646,
    unknown: 28647,
    missing: { input: 28648, cond: 28650 },
  });
  const name = loopVariable(parts, at);
  const body = parse(parts.get('cond')!, `${at}.cond`, [...vars, name]);
  const limit = parts.get('limit');
  const args = [parse(parts.get('input')!), ...(limit === undefined ? [] : [parse(limit)])];
  return { k: 'bind', fn: 'filter', vars: [name], args, body, at };
}

function parseLet(operand: BsonValue, at: string, vars: readonly string[], parse: ParseBelow): Expr {
  const parts = namedParts(operand, at, {
    required: ['vars', 'in'],
    optional: [],
    notObject: 16874,
    unknown: 16875,
    missing: { vars: 16876, in: 16877 },
  });
  const bound = parts.get('vars');
  if (!(bound instanceof BsonDocument)) {
    throw new QueryError(10065, `'vars' must be an object, found ${describe(bound)}`, { path: at });
  }
  const names = [...bound.keys()].map((name) => variableName(name, at));
  const args = [...bound.values()].map((value) => parse(value));
  return {
    k: 'bind',
    fn: 'let',
    vars: names,
    args,
    body: parse(parts.get('in')!, `${at}.in`, [...vars, ...names]),
    at,
  };
}

/** `{$year: date}`, `{$year: [date]}` or `{$year: {date, timezone}}`. */
function datePart(part: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    if (operand instanceof BsonDocument && ![...operand.keys()][0]?.startsWith('$')) {
      const parts = namedParts(operand, at, {
        required: ['date'],
        optional: ['timezone'],
        notObject: 40535,
        unknown: 40535,
        missing: 40539,
      });
      const zone = parts.get('timezone');
      return call(`agg.${part}`, [parse(parts.get('date')!), ...(zone === undefined ? [] : [parse(zone)])], at);
    }
    const operands = Array.isArray(operand) ? operand : [operand];
    if (operands.length !== 1) {
      throw new QueryError(40536, `$${part} takes exactly one date, found ${operands.length} arguments`, { path: at });
    }
    return call(`agg.${part}`, [parse(operands[0]!)], at);
  };
}

/** Arguments in turn: date, unit, binSize, timezone, startOfWeek; absent ones are missing literals. */
function parseDateTrunc(operand: BsonValue, at: string, _vars: readonly string[], parse: ParseBelow): Expr {
  const parts = namedParts(operand, at, {
    required: ['date', 'unit'],
    optional: ['binSize', 'timezone', 'startOfWeek'],
    notObject: 5439007,
    unknown: 5439008,
    missing: { date: 5439009, unit: 5439010 },
  });
  const defaults = BsonDocument.of({ binSize: 1, timezone: 'UTC', startOfWeek: 'sunday' });
  const names = ['date', 'unit', 'binSize', 'timezone', 'startOfWeek'];
  return call(
    'agg.dateTrunc',
    names.map((name) => parse(parts.has(name) ? parts.get(name)! : defaults.get(name)!)),
    at,
  );
}

/** Arguments in turn: date, format, timezone, and onNull if there is one. */
function parseDateToString(operand: BsonValue, at: string, _vars: readonly string[], parse: ParseBelow): Expr {
  const parts = namedParts(operand, at, {
    required: ['date'],
    optional: ['format', 'timezone', 'onNull'],
    notObject: 18629,
    unknown: 18534,
    missing: 18628,
  });
  const format = parts.has('format') ? parts.get('format')! : '%Y-%m-%dT%H:%M:%S.%LZ';
  const onNull = parts.get('onNull');
  const args = [
    parts.get('date')!,
    format,
    parts.has('timezone') ? parts.get('timezone')! : 'UTC',
    ...(onNull === undefined ? [] : [onNull]),
  ];
  return call(
    'agg.dateToString',
    args.map((arg) => parse(arg)),
    at,
  );
}
