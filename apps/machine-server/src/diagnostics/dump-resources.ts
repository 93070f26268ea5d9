/**
 * `-dump-resources`: every registered type with its models, in the format of public servers: a JSON array of `{"api", "model"}`, sorted.
 * The gRPC service of the type is added.
 */
import type { ResourceDescriptor } from '@platform/resources';
import type { Model } from '../graph/model.ts';
import { writeFileOf } from './write-file-of.ts';

/** @throws PlatformError with the option and the file */
export async function dumpResources(
  path: string,
  types: readonly Pick<ResourceDescriptor, 'api' | 'service'>[],
  models: readonly Pick<Model, 'api' | 'model'>[],
): Promise<void> {
  const registered = types
    .flatMap(({ api, service }) =>
      models.flatMap((one) => (one.api === api ? [{ api, model: one.model, proto_service: service.typeName }] : [])),
    )
    .toSorted((a, b) => compare(a.api, b.api) || compare(a.model, b.model));
  await writeFileOf('-dump-resources', path, `${JSON.stringify(registered, null, 2)}\n`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
