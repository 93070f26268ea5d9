/** A resource of a machine with typed methods. No Node: browsers load this file. */
import type { DescService } from '@bufbuild/protobuf';
import type { Resource, ResourceDescriptor } from '@platform/resources';
import { createProxy, namedClient } from '@platform/resources/proxy';
import type { Client, Link } from '@platform/rpc/portable';

/** Methods that take and return plain values, whatever the service says. */
type Plain = 'doCommand' | 'getReadings';

/**
 * The methods of its service, as those of a client (`setPower({ powerPct: 0.5 })`, with `signal`, `headers` and `timeoutMs`), and
 * `doCommand({ … })` and, for what measures, `readings({})` on plain values. The name of the resource is filled in.
 */
export type ResourceClient<T extends Resource, S extends DescService> = string extends keyof S['method']
  ? Omit<T, 'close'>
  : Omit<T, 'close' | Exclude<keyof S['method'], 'doCommand'>> & Omit<Client<S>, Plain>;

type AnyMethod = (request: object, options?: object) => unknown;

export function resourceClient<T extends Resource, S extends DescService>(
  type: ResourceDescriptor<T, S>,
  connection: Pick<Link, 'client'>,
  name: string,
): ResourceClient<T, S> {
  const {
    doCommand: _command,
    getReadings: _readings,
    ...own
  } = namedClient(type, type.service, connection.client(type.service), name) as Readonly<Record<string, AnyMethod>>;
  // Only the caller ends a call: a motion takes as long as it takes.
  const untimed = Object.entries(own).map(([method, call]): [string, AnyMethod] => [
    method,
    (request, options) => call(request, { timeoutMs: 0, ...options }),
  ]);
  return { ...createProxy(type, connection, name), ...Object.fromEntries(untimed) } as unknown as ResourceClient<T, S>;
}
