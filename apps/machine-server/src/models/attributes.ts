/** Reads the attributes of a resource by a table of fields. */
import { invalidArgument, invalidValue, type Problem } from '@platform/base';
import { type Field, type Fields, readFields } from '@platform/machine-config/fields';
import type { JsonObject } from '@platform/machine-config/schema';

/** A value for each field; undefined only where the table has no default. */
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

type ValueOf<F extends Field> = F extends { readonly kind: 'tags' | 'absolutePaths' }
  ? readonly string[]
  : F extends { readonly default: unknown }
    ? KindOf<F>
    : KindOf<F> | undefined;

type KindOf<F extends Field> = F extends { readonly kind: 'bool' }
  ? boolean
  : F extends { readonly kind: 'string' }
    ? string
    : F extends { readonly kind: 'int' | 'float' }
      ? number
      : F extends { readonly kind: 'list' }
        ? readonly unknown[]
        : F extends { readonly kind: 'object' }
          ? JsonObject
          : unknown;

/**
 * Unknown keys are ignored here: `attribute-warnings.ts` reports them.
 *
 * @throws invalid_argument with the path of every wrong value, and what was expected
 */
export function readAttributes<const F extends Fields>(fields: F, attributes: JsonObject): ValuesOf<F> {
  const problems: Problem[] = [];
  const { values } = readFields(fields, attributes, 'attributes', problems);
  const errors = problems.filter(({ level }) => level === 'error');
  if (errors.length > 0) throw invalidArgument(errors.map(({ path, message }) => `${path}: ${message}`).join('; '));
  return values as ValuesOf<F>;
}

/** @param what describes the value, such as `a program`. @throws invalid_argument if it is absent or an empty text */
export function required<T>(value: T | undefined, key: string, what: string): T {
  if (value !== undefined && value !== '') return value;
  throw invalidArgument(`attributes.${key}: expected ${what}, found ${value === '' ? '""' : 'none'}`);
}

/** @throws invalid_argument unless it is one of the choices */
export function choiceOf<const T extends string>(value: string, key: string, choices: readonly T[]): T {
  const found = choices.find((each) => each === value);
  if (found !== undefined) return found;
  const expected = choices.map((each) => JSON.stringify(each)).join(' or ');
  throw invalidValue(`attributes.${key}`, expected, value);
}

/** @throws invalid_argument unless every item is a number */
export function numbersOf(list: readonly unknown[], path: string): readonly number[] {
  return list.map((item, index) => {
    if (typeof item === 'number' && Number.isFinite(item)) return item;
    throw invalidValue(`attributes.${path}[${index}]`, 'a number', item);
  });
}

/** @throws invalid_argument unless every item is a string */
export function stringsOf(list: readonly unknown[], path: string): readonly string[] {
  return list.map((item, index) => {
    if (typeof item === 'string') return item;
    throw invalidValue(`attributes.${path}[${index}]`, 'a string', item);
  });
}

/** @throws invalid_argument unless every value is a text */
export function textsOf(object: JsonObject | undefined, path: string): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(object ?? {})) {
    if (typeof value !== 'string') throw invalidValue(`attributes.${path}.${key}`, 'a string', value);
    texts[key] = value;
  }
  return texts;
}
