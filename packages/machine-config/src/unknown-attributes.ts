/** Attributes that a built-in model does not know. Models of modules check their own. */
import type { Problem } from '@platform/base';
import { builtInAttributes } from './built-in-attributes.ts';
import { isObject } from './is-object.ts';
import type { JsonObject, ResourceConfig } from './schema.ts';
import { unknownKey } from './unknown-key.ts';

/** A warning for each. @param path of the attributes */
export function unknownAttributes(
  { api, model, attributes }: Pick<ResourceConfig, 'api' | 'model' | 'attributes'>,
  path: string,
): Problem[] {
  const known = builtInAttributes[api]?.[model];
  return known === undefined ? [] : unknownIn(attributes, known, path);
}

function unknownIn(given: JsonObject, known: readonly string[], path: string): Problem[] {
  const keys = [...new Set(known.map((name) => name.split('.', 1)[0] ?? ''))];
  return Object.entries(given).flatMap(([key, value]) => {
    if (!keys.includes(key)) return [unknownKey(`${path}.${key}`, key, keys)];
    const nested = known.flatMap((name) => (name.startsWith(`${key}.`) ? [name.slice(key.length + 1)] : []));
    return nested.length > 0 && isObject(value) ? unknownIn(value, nested, `${path}.${key}`) : [];
  });
}
