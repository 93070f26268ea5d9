/** $match: the query language, in which a comparison looks into arrays and compares only values of one kind. */

import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, BsonUndefined, type BsonValue, Regex } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import { call, type Expr, field, literal, type Path } from '../../plan/expr.ts';
import { malformed, QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { type FilterParts, fieldOperators } from './filter-operators.ts';
import { checkJsonSchema } from './json-schema.ts';

export function parseFilter(spec: BsonValue): Expr {
  if (!(spec instanceof BsonDocument)) throw new QueryError(15959, `$match takes an object, found ${describe(spec)}`);
  return parseQuery(spec, '$match', true);
}

/** A query document: all its parts must hold. */
function parseQuery(query: BsonDocument, at: string, top: boolean): Expr {
  const terms = [...query].flatMap(([name, value]): readonly Expr[] => {
    if (!name.startsWith('$')) return [parseField(name.split('.'), value, `${at}.${name}`)];
    return parseTopLevel(name, value, at, top);
  });
  return terms.length === 1 ? terms[0]! : call('match.and', terms, at);
}

function parseTopLevel(name: string, value: BsonValue, at: string, top: boolean): readonly Expr[] {
  const path = `${at}.${name}`;
  switch (name) {
    case '$and':
    case '$or':
    case '$nor':
      return [call(`match.${name.slice(1)}`, queryList(name, value, path, top), path)];
    case '$expr':
      if (!top) throw new QueryError('BadValue', '$expr can only be applied to the top-level document', { path });
      return [call('match.expr', [parseExpression(value, path)], path)];
    case '$comment':
      return [];
    case '$where':
      throw new QueryError('BadValue', '$where is server-side JavaScript, which this platform does not run', { path });
    case '$text':
      // As in MongoDB, which reports the missing index only when the query runs, the rest of the pipeline is parsed first.
      return [call('match.text', [literal(value)], path)];
    case '$alwaysTrue':
    case '$alwaysFalse':
      if (!isNumeric(value) || toDouble(value) !== 1) {
        throw malformed(`${name} takes the number 1, found ${describe(value)}`, { path });
      }
      return [literal(name === '$alwaysTrue')];
    case '$jsonSchema':
      return [call('match.jsonSchema', [field(), literal(checkJsonSchema(value, path))], path)];
    case '$sampleRate':
      return [call('match.sampleRate', [literal(rateOf(value, path))], path)];
    default:
      throw new QueryError('BadValue', `unknown top level operator: ${name}`, {
        path,
        hint: 'the top level allows field names, $and, $or, $nor, $expr and $comment',
      });
  }
}

export function asksForText(where: Expr): boolean {
  return where.k === 'call' && (where.fn === 'match.text' || where.args.some(asksForText));
}

function rateOf(value: BsonValue, path: string): number {
  if (!isNumeric(value)) {
    throw new QueryError('BadValue', `$sampleRate takes a number, found ${describe(value)}`, { path });
  }
  const rate = toDouble(value);
  if (rate >= 0 && rate <= 1) return rate;
  throw new QueryError('BadValue', `$sampleRate takes a number from 0 to 1, found ${rate}`, { path });
}

function queryList(name: string, value: BsonValue, at: string, top: boolean): readonly Expr[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new QueryError('BadValue', `${name} takes an array that is not empty, found ${describe(value)}`, {
      path: at,
    });
  }
  return value.map((query, index) => {
    if (query instanceof BsonDocument) return parseQuery(query, `${at}.${index}`, top);
    throw new QueryError('BadValue', `${name} takes an array of objects, found ${describe(query)}`, { path: at });
  });
}

/** The condition on one field: operators, or a value that it must equal. */
function parseField(path: Path, value: BsonValue, at: string): Expr {
  const subject: Expr = { k: 'field', path };
  if (value instanceof Regex) return fieldOperators['$regex']!(subject, value, at, parts);
  if (value instanceof BsonUndefined) throw new QueryError('BadValue', 'cannot compare to undefined', { path: at });
  if (!(value instanceof BsonDocument) || ![...value.keys()][0]?.startsWith('$')) {
    return call('match.eq', [subject, literal(value)], at);
  }
  const [first] = value.keys();
  if (first === '$ref' || first === '$id' || first === '$db') return call('match.eq', [subject, literal(value)], at);
  return parseOperators(subject, value, at);
}

function parseOperators(subject: Expr, operators: BsonDocument, at: string): Expr {
  const terms: Expr[] = [];
  for (const [name, value] of operators) {
    if (name === '$options') {
      if (operators.has('$regex')) continue;
      throw new QueryError('BadValue', '$options needs a $regex', { path: at });
    }
    const operator = Object.hasOwn(fieldOperators, name) ? fieldOperators[name] : undefined;
    if (operator === undefined) {
      if (name === '$near' || name === '$nearSphere' || name === '$geoNear') {
        throw new QueryError(5626500, `${name} is not allowed in a pipeline`, {
          path: at,
          hint: 'use the stage $geoNear',
        });
      }
      throw new QueryError('BadValue', `unknown operator: ${name}`, {
        path: at,
        hint: operators.has(name)
          ? `expressions are evaluated in $expr: {$expr: {$eq: ["$${subject.k === 'field' ? subject.path.join('.') : '…'}", {${name}: …}]}}`
          : `the operators are ${Object.keys(fieldOperators).join(', ')}`,
      });
    }
    terms.push(operator(subject, value, `${at}.${name}`, { ...parts, options: operators.get('$options') }));
  }
  return terms.length === 1 ? terms[0]! : call('match.and', terms, at);
}

const parts: FilterParts = { query: (query, at) => parseQuery(query, at, false), operators: parseOperators };
