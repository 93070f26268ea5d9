/** Query operators over a row, with MongoDB's rules for arrays on the path and for types of values. */
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Expr, Path } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { compileJsonSchema } from '../match/json-schema.ts';
import { queryOperators } from '../match/query-operators.ts';
import type { Evaluate } from './scope.ts';
import { isTruthy } from './truth.ts';

type Compile = (expr: Expr) => Evaluate;
type Test = (value: Maybe) => boolean;

/** Compiles a filter into a test of a row. */
export function compileMatch(
  expr: Expr & { k: 'call' },
  compile: Compile,
  random: () => number = Math.random,
): Evaluate {
  switch (expr.fn) {
    case 'match.and': {
      const terms = expr.args.map(compile);
      const [only] = terms;
      if (terms.length === 1) return (frame) => isTruthy(only!(frame));
      return (frame) => terms.every((term) => isTruthy(term(frame)));
    }
    case 'match.or': {
      const terms = expr.args.map(compile);
      return (frame) => terms.some((term) => isTruthy(term(frame)));
    }
    case 'match.nor': {
      const terms = expr.args.map(compile);
      return (frame) => !terms.some((term) => isTruthy(term(frame)));
    }
    case 'match.expr': {
      const inner = compile(expr.args[0]!);
      return (frame) => isTruthy(inner(frame));
    }
    case 'match.text':
      throw new QueryError('IndexNotFound', '$text needs a text index, which this platform does not have', {
        path: expr.at,
      });
    case 'match.sampleRate': {
      const rate = literalOf(expr.args[0]);
      return () => random() < Number(rate);
    }
    case 'match.jsonSchema': {
      const test = compileJsonSchema(literalOf(expr.args[1]));
      return (frame) => frame.root !== undefined && test(frame.root);
    }
    default: {
      const operator = queryOperators.get(expr.fn);
      if (operator === undefined) throw new QueryError('BadValue', `unknown query operator ${expr.fn}`);
      const operands = expr.args.slice(1).map(literalOf);
      return onPath(expr, operator.ofWholeArrays !== true, operator.test(...operands));
    }
  }
}

function literalOf(expr: Expr | undefined): Maybe {
  if (expr?.k !== 'lit') throw new QueryError('BadValue', 'a query operator takes a literal');
  return expr.value;
}

function pathOf(expr: Expr | undefined): Path {
  if (expr?.k !== 'field') throw new QueryError('BadValue', 'a query operator takes a field');
  return expr.path;
}

function onPath(expr: Expr & { k: 'call' }, expand: boolean, test: Test): Evaluate {
  const path = pathOf(expr.args[0]);
  // $elemMatch tests each element as it is: it does not enter an array in an array.
  const enters = expand && path.length > 0;
  return (frame) => pathMatches(frame.root, path, enters, test);
}

/** The body sees each element of the array as its row. Arrays along the path are followed; the array itself is not expanded. */
export function compileElemMatch(expr: Expr & { k: 'bind' }, compile: Compile): Evaluate {
  const path = pathOf(expr.args[0]);
  const body = compile(expr.body);
  const ofObjects = expr.vars[0] === 'object';
  return (frame) => {
    const inner = { ...frame };
    const holds = (item: BsonValue): boolean => {
      if (ofObjects && !(item instanceof BsonDocument) && !Array.isArray(item)) return false;
      // An array as an element is accessed by index, like an object with the names "0", "1", ….
      inner.root =
        ofObjects && Array.isArray(item) ? new BsonDocument(item.map((each, index) => [String(index), each])) : item;
      return isTruthy(body(inner));
    };
    return pathMatches(frame.root, path, false, (value) => Array.isArray(value) && value.some(holds));
  };
}

/**
 * Follows a path by the rules of query operators: an array along the path is entered element by element and by index; an array at the end
 * is tested as a whole and, if `expand` is set, element by element. Whether the test holds for any value at the path; a path without values
 * is tested with `undefined`.
 */
function pathMatches(root: Maybe, path: Path, expand: boolean, test: Test): boolean {
  return walk(root, path, 0, expand, test);
}

function walk(start: Maybe, path: Path, from: number, expand: boolean, test: Test): boolean {
  let current = start;
  for (let index = from; index < path.length; index++) {
    if (current instanceof BsonDocument) current = current.get(path[index]!);
    else if (Array.isArray(current)) return intoArray(current, path, index, expand, test);
    else return test(undefined);
  }
  return atEnd(current, expand, test);
}

function atEnd(value: Maybe, expand: boolean, test: Test): boolean {
  if (expand && Array.isArray(value) && value.some(test)) return true;
  return test(value);
}

/** Objects in the array are followed by name; a numeric part also selects the element at that index. */
function intoArray(array: readonly BsonValue[], path: Path, index: number, expand: boolean, test: Test): boolean {
  const part = path[index]!;
  const position = /^(0|[1-9]\d*)$/.test(part) ? Number(part) : -1;
  for (const [place, item] of array.entries()) {
    if (item instanceof BsonDocument && walk(item, path, index, expand, test)) return true;
    if (place !== position) continue;
    if (index === path.length - 1) {
      if (atEnd(item, expand, test)) return true;
    } else if (item instanceof BsonDocument || Array.isArray(item)) {
      if (walk(item, path, index + 1, expand, test)) return true;
    }
  }
  return false;
}
