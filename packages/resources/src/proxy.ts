/** A resource in another process: every method of its service is forwarded over a connection, under the name it has there. */
import type { DescService } from '@bufbuild/protobuf';
import { type Client, passingClient } from '@platform/rpc/portable';
import { nameFieldOf } from './name-field.ts';
import type { Resource } from './resource.ts';
import type { Connection, ResourceCall, ResourceDescriptor } from './resource-descriptor.ts';

/** A method of any kind: its input and output are messages, or async iterables of them. */
type AnyMethod = (request: unknown, options?: CallOptions) => unknown;

interface CallOptions extends ResourceCall {
  /** 0: limited only by `signal`. */
  readonly timeoutMs: number;
}

export interface Proxy extends Resource {
  /** The methods of the service, by their names in the generated code. */
  readonly forward: Readonly<Record<string, AnyMethod>>;
}

export function isProxy(resource: Resource): resource is Proxy {
  return 'forward' in resource;
}

/**
 * The result has the interface of its type, for code in this process, and `forward` for calls that are only passed through. Closing it
 * leaves the connection open, because the connection belongs to the caller.
 *
 * @param name of the resource in the other process.
 */
export function createProxy<T extends Resource, S extends DescService>(
  descriptor: ResourceDescriptor<T, S>,
  connection: Connection,
  name: string,
): T & Proxy {
  const named: Connection = { client: (service) => namedClient(descriptor, service, connection.client(service), name) };
  const own = { ...descriptor.proxy(named), forward: passingClient(named, descriptor.service), close: async () => {} };
  return own as unknown as T & Proxy;
}

/** A client whose requests name the resource. */
export function namedClient<S extends DescService>(
  descriptor: Pick<ResourceDescriptor, 'nameFields'>,
  service: S,
  client: Client<S>,
  name: string,
): Client<S> {
  const given = client as Readonly<Record<string, AnyMethod>>;
  const named = service.methods.map(({ localName, methodKind, input }): [string, AnyMethod] => {
    const { withName } = nameFieldOf(descriptor, input);
    const isStream = methodKind === 'client_streaming' || methodKind === 'bidi_streaming';
    const rename = (request: unknown): unknown =>
      isStream
        ? each(request as AsyncIterable<object>, (message) => withName(message, name))
        : withName(request as object, name);
    return [localName, (request, options) => given[localName]?.(rename(request), options)];
  });
  // The erasure of createClient, whose functions these wrap.
  return Object.fromEntries(named) as Client<S>;
}

async function* each<T>(items: AsyncIterable<T>, change: (item: T) => T): AsyncGenerator<T, void> {
  for await (const item of items) yield change(item);
}
