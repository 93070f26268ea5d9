/** Names as everything inside spells them, whichever of its forms a document or a message has. */
import { canonicalApi } from '@platform/base';

/** The API of an entry of `components` or `services`, stated in full or by type and namespace; undefined: neither. */
export function apiOf(
  { api, namespace, type }: { readonly api?: unknown; readonly namespace?: unknown; readonly type?: unknown },
  kind: 'component' | 'service',
): string | undefined {
  if (typeof api === 'string' && api !== '') return canonicalApi(api);
  if (typeof type !== 'string') return undefined;
  const space = typeof namespace === 'string' && namespace !== '' ? namespace : 'core';
  return canonicalApi(`${space}:${kind}:${type}`);
}

/** A model by its full name: one word means a built-in model (`fake` is `core:builtin:fake`); a service without one has the built-in model. */
export function canonicalModel(model: string, kind?: 'component' | 'service'): string {
  if (model === '' && kind === 'service') return 'core:builtin:builtin';
  return /^[\w-]+$/.test(model) ? `core:builtin:${model}` : canonicalApi(model);
}

/** Whether an entry of `service_configs` is for services of this API: its type is the API in full, or its last word. */
export function isForService(type: string, api: string): boolean {
  const lastWord = (text: string): string => text.slice(text.lastIndexOf(':') + 1);
  return lastWord(type) === lastWord(api);
}

/** What names in `depends_on` mean: full names, and short ones, which mean every resource that is called so. */
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
