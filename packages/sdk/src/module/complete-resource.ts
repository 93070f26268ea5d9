/** Turns the object that a model built into a complete resource. */
import { failedPrecondition, unimplemented } from '@platform/base';
import type { Document, Resource, ResourceDescriptor } from '@platform/resources';
import type { BuildConfig, ModelResource } from './define-model.ts';

export interface BuiltResource extends Resource {
  reconfigure?(config: BuildConfig): Promise<void> | void;
}

/** @throws failed_precondition if it lacks methods of its type */
export function completeResource(type: ResourceDescriptor, built: ModelResource<Resource>): BuiltResource {
  const completed = {
    doCommand: async (_command: Document): Promise<Document> => {
      throw unimplemented('this model has no commands');
    },
    close: async () => {},
    ...methodsOf(built),
  } as unknown as BuiltResource;
  if (type.implementedBy(completed)) return completed;
  const wanted = Object.keys(type.methods).map((name) => (name === 'getReadings' ? 'readings' : name));
  const missing = wanted.filter((name) => !(name in completed));
  throw failedPrecondition(
    `build: expected an object with the methods of ${type.api}, found one without ${missing.join(', ')}`,
  );
}

/** The methods of an object, including those of its class, bound to it. */
function methodsOf(built: object): Record<string, unknown> {
  const methods: Record<string, unknown> = {};
  for (let at = built; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === 'function' && name !== 'constructor') methods[name] ??= value.bind(built);
  }
  return methods;
}
