/**
 * A coarse test that a store may apply to readings before the condition: it lets through every reading that meets the condition, and
 * possibly others. The condition itself decides, so a store treats as met whatever it cannot test.
 */
import type { Operand } from './leaf.ts';

export type Prefilter =
  | { readonly k: 'all' | 'any'; readonly of: readonly Prefilter[] }
  | {
      readonly k: 'test';
      /** Keys from the outside in, for each place where the field may be: one of them must meet the test. */
      readonly paths: readonly (readonly string[])[];
      /** `is`: there is any value, of whatever type. */
      readonly operator: 'lt' | 'lte' | 'gt' | 'gte' | 'eq' | 'is';
      /** Values of other types do not meet the test. Absent with `is`. */
      readonly value?: number | string | boolean;
    }
  /** Any reading may meet it. */
  | { readonly k: 'unknown' };

/** Longer paths can be interpreted in too many ways. */
const mostParts = 4;

export function prefilterOf(parts: readonly string[], operator: string, operand: Operand): Prefilter {
  if (parts.length > mostParts) return { k: 'unknown' };
  const below = keyPaths(parts);
  const paths = [...below, ...below.map((path) => ['readings', ...path])];
  const isValue = typeof operand === 'number' || typeof operand === 'string' || typeof operand === 'boolean';
  if (isValue && isOrdering(operator)) return { k: 'test', paths, operator, value: operand };
  return { k: 'test', paths, operator: 'is' };
}

function isOrdering(operator: string): operator is 'lt' | 'lte' | 'gt' | 'gte' | 'eq' {
  return ['lt', 'lte', 'gt', 'gte', 'eq'].includes(operator);
}

/** Mirrors the search in field-path.ts: a key may contain several parts with its dots. */
function keyPaths(parts: readonly string[]): string[][] {
  if (parts.length === 0) return [[]];
  return parts.flatMap((_, last) => {
    const key = parts.slice(0, last + 1).join('.');
    return keyPaths(parts.slice(last + 1)).map((path) => [key, ...path]);
  });
}
