/**
 * Compiles `conditions` to one test of a reading: `evals`, `all` (each must hold) and `any` (one must hold). Their items are evals or
 * nested objects with these keys. Several of the three keys in one object must all hold.
 */
import { findOperand } from './field-path.ts';
import { describe, isObject, type Json, type JsonObject } from './json.ts';
import { parseLeaf } from './leaf.ts';
import { operators } from './operators.ts';
import { type Prefilter, prefilterOf } from './prefilter.ts';
import { type Report, warnUnknown } from './report.ts';

export type DocumentTest = (document: JsonObject) => boolean;

export interface Tests {
  /** Undefined: there is nothing to test, so every reading meets it. */
  readonly test: DocumentTest | undefined;
  /** Paths that the test looks at. */
  readonly paths: readonly (readonly string[])[];
  /** What a store may test first, to leave readings out; undefined if there is nothing to test. */
  readonly prefilter: Prefilter | undefined;
}

/** One test, and what a store may test first. */
interface Compiled {
  readonly test: DocumentTest;
  readonly prefilter: Prefilter;
}

const groupKeys = ['evals', 'all', 'any'] as const;
/** How deep `all` and `any` may be nested, and how many evals there may be in all: each upload evaluates them. */
const maxLevels = 8;
const maxEvals = 200;

interface Collected {
  readonly report: Report;
  readonly paths: (readonly string[])[];
  evals: number;
}

/** @param json `conditions`, `condition` or `clear` of a configuration; undefined or null: every reading meets it */
export function compileTests(json: unknown, path: string, report: Report): Tests {
  if (json === undefined || json === null) return { test: undefined, paths: [], prefilter: undefined };
  if (!isObject(json)) {
    report(path, `expected an object with evals, found ${describe(json)}`);
    return { test: undefined, paths: [], prefilter: undefined };
  }
  const collected: Collected = { report, paths: [], evals: 0 };
  const compiled = compileGroup(json, path, 1, collected);
  if (collected.evals > maxEvals) report(path, `expected at most ${maxEvals} evals, found ${collected.evals}`);
  return { test: compiled?.test, paths: collected.paths, prefilter: compiled?.prefilter };
}

function compileGroup(json: JsonObject, path: string, level: number, to: Collected): Compiled | undefined {
  warnUnknown(json, groupKeys, `${path}.`, to.report);
  if (level > maxLevels) {
    to.report(path, `expected all and any nested at most ${maxLevels} deep, found more`);
    return undefined;
  }
  const tests = groupKeys.flatMap((key) => {
    const items = json[key];
    if (items === undefined || items === null) return [];
    if (!Array.isArray(items)) {
      to.report(`${path}.${key}`, `expected an array of {operator, value}, found ${describe(items)}`);
      return [];
    }
    const compiled = items.flatMap((item, index) => compileItem(item, `${path}.${key}[${index}]`, level, to) ?? []);
    // Nothing in an empty `any` can hold, so it is surely a mistake.
    if (key === 'any' && items.length === 0) to.report(`${path}.any`, 'expected at least one item, found none');
    if (compiled.length === 0) return [];
    return [joined(key === 'any' ? 'any' : 'all', compiled)];
  });
  return tests.length === 0 ? undefined : joined('all', tests);
}

function compileItem(item: Json | undefined, path: string, level: number, to: Collected): Compiled | undefined {
  if (isObject(item) && item['operator'] === undefined && groupKeys.some((key) => Object.hasOwn(item, key))) {
    return compileGroup(item, path, level + 1, to);
  }
  return compileEval(item, path, to);
}

/** @param kind `all` must hold, or one of them */
function joined(kind: 'all' | 'any', of: readonly Compiled[]): Compiled {
  const [only] = of;
  if (of.length === 1 && only) return only;
  const tests = of.map(({ test }) => test);
  const test: DocumentTest =
    kind === 'all'
      ? (document) => tests.every((each) => each(document))
      : (document) => tests.some((each) => each(document));
  return { test, prefilter: { k: kind, of: of.map((one) => one.prefilter) } };
}

function compileEval(json: unknown, path: string, to: Collected): Compiled | undefined {
  const { report } = to;
  to.evals += 1;
  if (!isObject(json)) {
    report(path, `expected an object with operator and value, found ${describe(json)}`);
    return undefined;
  }
  warnUnknown(json, ['operator', 'value'], `${path}.`, report);
  const name = json['operator'];
  const operator = typeof name === 'string' && Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (operator === undefined) {
    report(`${path}.operator`, `expected one of ${Object.keys(operators).join(', ')}, found ${describe(name)}`);
  }
  const leaf = parseLeaf(json['value'], `${path}.value`, report);
  if (operator === undefined || leaf === undefined) return undefined;
  const test = operator(leaf.operand);
  if (typeof test === 'string') {
    report(`${path}.value`, test);
    return undefined;
  }
  const { parts } = leaf;
  to.paths.push(parts);
  return {
    test(document) {
      const left = findOperand(document, parts);
      return left !== undefined && test(left);
    },
    prefilter: prefilterOf(parts, String(name), leaf.operand),
  };
}
