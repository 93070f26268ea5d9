/**
 * The `value` of an eval: one path, dotted or nested, that ends in the right operand. Below the first field, an object with one key is one
 * more step of the path; an object with several keys or none is the operand itself.
 */

import { maxPathParts } from './field-path.ts';
import { describe, isObject, type Json } from './json.ts';
import type { Report } from './report.ts';

export interface Leaf {
  readonly parts: readonly string[];
  readonly operand: Operand;
}

/** A right operand. */
export type Operand = Json | Pattern | Instant;

/** A regular expression as right operand, from `{"$regex": "…", "$options": "i"}` or `{"$regularExpression": {…}}`. */
export class Pattern {
  readonly source: string;
  readonly options: string;
  constructor(source: string, options: string) {
    this.source = source;
    this.options = options;
  }
}

/** A date as right operand, from `{"$date": "2026-01-02T03:04:05Z"}`: compared with texts in the reading that are also dates. */
export class Instant {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** Milliseconds of a date of RFC 3339, with or without a time (midnight UTC); undefined if the text is not one. */
export function dateMs(text: string): number | undefined {
  if (!rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const day = text.slice(0, 10);
  // Date.parse takes the 30th of February as the 2nd of March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? ms : undefined;
}

/** Advice for an eval with several fields. */
export const oneEvalPerField = 'write one eval per field, all of which must be true';

/** Undefined after a problem was reported. */
export function parseLeaf(value: unknown, path: string, report: Report): Leaf | undefined {
  if (!isObject(value)) {
    report(
      path,
      `expected an object with one field path and its operand, e.g. {"readings": {"cpu": 80}}, found ${describe(value)}`,
    );
    return undefined;
  }
  const parts: string[] = [];
  let current: Json = value;
  for (;;) {
    if (Array.isArray(current)) {
      report(
        path,
        `expected a string, boolean, number, object or regular expression at '${parts.join('.')}', found an array`,
      );
      return undefined;
    }
    if (!isObject(current)) return parts.length === 0 ? undefined : leafOf(parts, current, path, report);
    const pattern: Pattern | undefined = parts.length > 0 ? patternOf(current) : undefined;
    if (pattern !== undefined) return leafOf(parts, pattern, path, report);
    const keys: string[] = Object.keys(current);
    if (parts.length > 0 && keys.length === 1 && keys[0] === '$date') {
      const date = current['$date'];
      const ms = typeof date === 'string' ? dateMs(date) : undefined;
      if (ms !== undefined) return { parts, operand: new Instant(ms) };
      report(
        path,
        `expected a date such as {"$date": "2026-01-02T03:04:05Z"} at '${parts.join('.')}', found ${describe(date)}`,
      );
      return undefined;
    }
    if (keys.length !== 1) {
      if (parts.length > 0) return leafOf(parts, current, path, report);
      const found = keys.length === 0 ? 'none' : keys.join(', ');
      const advice = keys.length > 1 ? `; ${oneEvalPerField}` : '';
      report(path, `expected one field, found ${found}${advice}`);
      return undefined;
    }
    const key: string = keys[0]!;
    parts.push(...key.split('.'));
    if (parts.some((part) => part === '')) {
      report(path, `expected a field path without empty parts, found '${parts.join('.')}'`);
      return undefined;
    }
    if (parts.length > maxPathParts) {
      report(path, `expected at most ${maxPathParts} parts of a field path, found ${parts.length}`);
      return undefined;
    }
    current = current[key]!;
  }
}

function leafOf(parts: readonly string[], operand: Operand, path: string, report: Report): Leaf | undefined {
  if (operand !== null) return { parts, operand };
  report(path, `expected a string, boolean, number, object or regular expression at '${parts.join('.')}', found null`);
  return undefined;
}

function patternOf(value: Json): Pattern | undefined {
  if (!isObject(value)) return undefined;
  const [first] = Object.keys(value);
  const [source, options] =
    first === '$regularExpression' && isObject(value[first])
      ? [value[first]['pattern'], value[first]['options'] ?? '']
      : [value['$regex'], value['$options'] ?? ''];
  return typeof source === 'string' && typeof options === 'string' ? new Pattern(source, options) : undefined;
}
