/** Resources named in the attributes of another one, such as the board of a motor. */
import { failedPrecondition, invalidArgument } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { type Resource, type ResourceDescriptor, shortType } from '@platform/resources';
import type { BuildContext, ImplicitDependencies } from '../graph/model.ts';

/**
 * The running resource with this short or full name.
 *
 * @param key the attribute that names it. @throws invalid_argument if it is absent, failed_precondition if no such dependency runs
 */
export function dependencyOf<T extends Resource>(
  { dependencies }: BuildContext,
  type: ResourceDescriptor<T>,
  name: string | undefined,
  key: string,
): T {
  const what = shortType(type);
  if (name === undefined || name === '')
    throw invalidArgument(`attributes.${key}: expected the name of a ${what}, found none`);
  const found = dependencies.get(`${type.api}/${name}`) ?? dependencies.get(name);
  if (found !== undefined && type.implementedBy(found)) return found;
  const text = `attributes.${key}: expected the name of a ${what}, found ${JSON.stringify(name)}`;
  throw failedPrecondition(text);
}

/** The `dependencies` of a model: those of these attributes that are set. */
export function namedIn(...keys: readonly string[]) {
  return async ({ attributes }: { readonly attributes: JsonObject }): Promise<ImplicitDependencies> => {
    const names = keys.flatMap((key) => attributes[key] ?? []);
    return { required: names.filter((name): name is string => typeof name === 'string' && name !== ''), optional: [] };
  };
}
