/** For tests of models: a resource of one model, without a machine-server. */
import {
  create,
  type DescMessage,
  type DescService,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { createLog, type LogLevel } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { isReadable, type Readable, type Resource, type ResourceCall } from '@platform/resources';
import type { Client } from '@platform/rpc/client';
import { onTestFinished } from 'vitest';
import type { Model } from '../graph/model.ts';

export interface BuildOptions {
  /** By full name. */
  readonly dependencies?: Readonly<Record<string, Resource>>;
  /** Lines of the log as `level message`. */
  readonly lines?: string[];
}

/** Builds it with these attributes; closed at the end of the test. */
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

type AnyMethod = (request: unknown, call: ResourceCall) => unknown;

/** Calls the methods of a resource as RPCs do: with complete messages in both directions, which are sent as bytes. */
export function clientOf<S extends DescService>(service: S, resource: Resource, signal?: AbortSignal): Client<S> {
  const methods = resource as unknown as Readonly<Record<string, AnyMethod>>;
  const call = { signal: signal ?? new AbortController().signal };
  const calls = service.methods.map(({ localName, methodKind, input, output }): [string, AnyMethod] => {
    const answer = (request: unknown): unknown => methods[localName]?.call(resource, request, call);
    if (localName === 'doCommand')
      return [localName, async (request) => ({ result: await answer((request as { command: unknown }).command) })];
    const sent = (schema: DescMessage, message: unknown) =>
      fromBinary(schema, toBinary(schema, create(schema, message as MessageInitShape<DescMessage>)));
    if (methodKind === 'bidi_streaming' || methodKind === 'client_streaming') return [localName, answer];
    const stream = async function* (request: unknown) {
      for await (const message of answer(sent(input, request)) as AsyncIterable<unknown>) yield sent(output, message);
    };
    if (methodKind === 'server_streaming') return [localName, stream];
    return [localName, async (request) => sent(output, await answer(sent(input, request)))];
  });
  // Each function has the types of its method.
  return Object.fromEntries(calls) as unknown as Client<S>;
}
