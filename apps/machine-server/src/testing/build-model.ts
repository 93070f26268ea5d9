/** A resource of one model, without a machine-server, for tests of models. */
import { createLog, type LogLevel } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { isReadable, type Readable, type Resource } from '@platform/resources';
import { onTestFinished } from 'vitest';
import type { Model } from '../graph/model.ts';

export interface BuildOptions {
  /** By full name. */
  readonly dependencies?: Readonly<Record<string, Resource>>;
  /** Lines of the log as `level message`. */
  readonly lines?: string[];
}

/** Built with these attributes; closed at the end of the test. */
export async function buildModel(
  model: Model,
  attributes: JsonObject,
  { dependencies = {}, lines = [] }: BuildOptions = {},
): Promise<Resource> {
  const { api } = model;
  const config = { name: 'it', api, model: model.model, attributes, depends_on: [], service_configs: [] };
  const log = createLog((level: LogLevel, _logger, message) => void lines.push(`${level} ${message}`));
  const resource = await model.build(config, {
    dependencies: new Map(Object.entries(dependencies)),
    associated: [],
    log,
  });
  onTestFinished(() => resource.close());
  return resource;
}

export async function buildReadable(model: Model, attributes: JsonObject, options?: BuildOptions): Promise<Readable> {
  const resource = await buildModel(model, attributes, options);
  if (!isReadable(resource)) throw new Error('expected a resource with readings');
  return resource;
}
