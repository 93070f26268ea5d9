import { canonicalApi } from '@platform/base';
import { builtInAttributes } from './built-in-attributes.ts';

/** The built-in models of this version of the machine-server, by API. */
export const builtInModels: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(builtInAttributes).map(([api, models]) => [api, Object.keys(models)]),
);

/** What to report about a built-in model that our machine-server lacks; undefined for known ones and for models of modules. */
export function modelFault(api: string, model: string): string | undefined {
  if (!model.startsWith('core:builtin:')) return undefined;
  const known = builtInModels[api] ?? [];
  if (known.includes(model)) return undefined;
  if (known.length === 0)
    return `this platform's machine-server has no resources of type ${api}, other machine servers may have them: found "${model}"`;
  return `expected a model that this platform's machine-server has (${known.join(', ')}) or another machine server, found "${model}"`;
}

/**
 * The full name of a type that a client may have shortened: `sensor` and `rdk:component:sensor` → `core:component:sensor`. If a component and
 * a service have the short name, it is the component. Any other text passes unchanged.
 */
export function fullType(type: string): string {
  if (type.includes(':')) return canonicalApi(type);
  const apis = [`core:component:${type}`, `core:service:${type}`];
  return apis.find((api) => Object.hasOwn(builtInModels, api)) ?? type;
}
