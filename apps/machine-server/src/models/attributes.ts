/** Reads the attributes of a resource by a table of fields. */
import { PlatformError, type Problem } from '@platform/base';
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

/** @throws invalid_argument naming every wrong value with its path, and what was expected */
export function readAttributes<const F extends Fields>(fields: F, attributes: JsonObject): ValuesOf<F> {
  const problems: Problem[] = [];
  const { values } = readFields(fields, attributes, 'attributes', problems);
  const errors = problems.filter(({ level }) => level === 'error');
  if (errors.length > 0)
    throw new PlatformError('invalid_argument', errors.map(({ path, message }) => `${path}: ${message}`).join('; '));
  return values as ValuesOf<F>;
}

/** @throws invalid_argument unless every item is a number */
export function numbersOf(list: readonly unknown[], path: string): readonly number[] {
  return list.map((item, index) => {
    if (typeof item === 'number' && Number.isFinite(item)) return item;
    const text = `attributes.${path}[${index}]: expected a number, found ${JSON.stringify(item)}`;
    throw new PlatformError('invalid_argument', text);
  });
}

/** @throws invalid_argument unless every item is a string */
export function stringsOf(list: readonly unknown[], path: string): readonly string[] {
  return list.map((item, index) => {
    if (typeof item === 'string') return item;
    const text = `attributes.${path}[${index}]: expected a string, found ${JSON.stringify(item)}`;
    throw new PlatformError('invalid_argument', text);
  });
}
