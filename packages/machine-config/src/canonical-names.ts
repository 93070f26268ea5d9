/** Converts names to the internal spelling, whichever form a document or a message uses. */
import { canonicalApi } from '@platform/base';

/** The API of an entry of `components` or `services`, given in full or by type and namespace; undefined if neither is given. */
export function apiOf(
  { api, namespace, type }: { readonly api?: unknown; readonly namespace?: unknown; readonly type?: unknown },
  kind: 'component' | 'service',
): string | undefined {
  if (typeof api === 'string' && api !== '') return canonicalApi(api);
  if (typeof type !== 'string') return undefined;
  const space = typeof namespace === 'string' && namespace !== '' ? namespace : 'core';
  return canonicalApi(`${space}:${kind}:${type}`);
}

/**
 * The full name of a model: one word means a built-in model (`fake` is `core:builtin:fake`); a service without a model has the built-in
 * one.
 */
export function canonicalModel(model: string, kind?: 'component' | 'service'): string {
  if (model === '' && kind === 'service') return 'core:builtin:builtin';
  return /^[\w-]+$/.test(model) ? `core:builtin:${model}` : canonicalApi(model);
}

/** Whether a `service_configs` entry applies to services of this API: its type is the API in full, or its last word. */
export function isForService(type: string, api: string): boolean {
  const lastWord = (text: string): string => text.slice(text.lastIndexOf(':') + 1);
  return lastWord(type) === lastWord(api);
}

/** What names in `depends_on` refer to: full names, and short ones, which refer to every resource of that name. */
export function resourcesByName<R extends { readonly api: string; readonly name: string }>(
  resources: readonly R[],
): ReadonlyMap<string, readonly R[]> {
  const byName = new Map<string, R[]>();
  for (const resource of resources) {
    for (const name of [resource.name, `${resource.api}/${resource.name}`]) {
      const others = byName.get(name);
      if (others === undefined) byName.set(name, [resource]);
      else others.push(resource);
    }
  }
  return byName;
}
