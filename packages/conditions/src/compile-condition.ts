/** Trigger conditions: compiles the `conditional` object of a configuration into a test of readings. */

import type { Problem } from '@platform/base';
import { type CaptureMethod, parseCaptureMethod } from './capture-method.ts';
import { findOperand } from './field-path.ts';
import { describe, isObject, type JsonObject } from './json.ts';
import { type KeyTree, keysOf } from './key-tree.ts';
import { parseLeaf } from './leaf.ts';
import { operators } from './operators.ts';
import type { Report } from './report.ts';

export interface Condition {
  /** Absent after an error in `data_capture_method`. */
  readonly captureMethod: CaptureMethod | undefined;
  readonly problems: readonly Problem[];
  /** Whether a reading meets all evals. Without evals every reading does; after an error none does. */
  matches(document: JsonObject): boolean;
  /** The keys of a document that `matches` looks at; undefined: all. */
  readonly keys: KeyTree | undefined;
}

interface Eval {
  readonly test: (document: JsonObject) => boolean;
  readonly parts: readonly string[];
}

/** @param json `event.conditional`: `data_capture_method`, and `conditions` (or `condition`) with `evals`. Never throws. */
export function compileCondition(json: unknown): Condition {
  const problems: Problem[] = [];
  const report: Report = (path, message, level = 'error') => problems.push({ path, level, message });
  if (!isObject(json)) {
    report('', `expected an object with data_capture_method and conditions, found ${describe(json)}`);
    return { captureMethod: undefined, problems, matches: () => false, keys: undefined };
  }
  warnUnknown(json, ['data_capture_method', 'conditions', 'condition'], '', report);
  const method = parseCaptureMethod(json['data_capture_method']);
  if (typeof method === 'string') report('data_capture_method', method);
  const evals = compileEvals(json, report);
  const faulty = problems.some((problem) => problem.level === 'error');
  return {
    captureMethod: typeof method === 'string' ? undefined : method,
    problems,
    matches: faulty ? () => false : (document) => evals.every(({ test }) => test(document)),
    keys: keysOf(evals.map(({ parts }) => parts)),
  };
}

function compileEvals(json: JsonObject, report: Report): Eval[] {
  const key = json['conditions'] !== undefined ? 'conditions' : 'condition';
  if (key === 'conditions' && json['condition'] !== undefined) {
    report('condition', 'expected either conditions or condition, found both: conditions is used', 'warning');
  }
  const conditions = json[key];
  if (conditions === undefined || conditions === null) return [];
  if (!isObject(conditions)) {
    report(key, `expected an object with evals, found ${describe(conditions)}`);
    return [];
  }
  warnUnknown(conditions, ['evals'], `${key}.`, report);
  const evals = conditions['evals'];
  if (evals === undefined || evals === null) return [];
  if (!Array.isArray(evals)) {
    report(`${key}.evals`, `expected an array of {operator, value}, found ${describe(evals)}`);
    return [];
  }
  return evals.flatMap((each, index) => compileEval(each, `${key}.evals[${index}]`, report) ?? []);
}

function compileEval(json: unknown, path: string, report: Report): Eval | undefined {
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
  return {
    parts,
    test(document) {
      const left = findOperand(document, parts);
      return left !== undefined && test(left);
    },
  };
}

function warnUnknown(json: JsonObject, known: readonly string[], path: string, report: Report): void {
  for (const key of Object.keys(json)) {
    if (!known.includes(key))
      report(
        `${path}${key}`,
        `expected one of ${known.join(', ')}, found ${describe(key)}: this key has no effect`,
        'warning',
      );
  }
}
