/** Notices by the answers to its calls that a module no longer has a resource. */
import type { DescService } from '@bufbuild/protobuf';
import { asPlatformError } from '@platform/base';
import type { Client, Link } from '@platform/rpc/client';

/**
 * Whether a module answers like this to a call to a resource that it does not have: the public SDKs for Python and Go, and ours. An answer
 * about something else that is not found, such as a pin, does not count.
 */
export function saysForgotten(caught: unknown, name: string): boolean {
  const { code, message } = asPlatformError(caught);
  if (code !== 'not_found' && code !== 'unknown') return false;
  return [
    /\bNo \S+ with name "(.*)" found in the registry/,
    /\bresource [\w-]+:[\w-]+:[\w-]+\/(.*) not found/,
    /\bthis module has no resource [\w-]+:[\w-]+:[\w-]+\/(.*)$/,
  ].some((pattern) => pattern.exec(message)?.[1] === name);
}

type UnaryMethod = (...given: readonly unknown[]) => Promise<unknown>;

/** The same link; `failed` is called with the error of each unary call that fails. */
export function noticing(link: Pick<Link, 'client'>, failed: (caught: unknown) => void): Pick<Link, 'client'> {
  return {
    client<S extends DescService>(service: S): Client<S> {
      const given = link.client(service);
      const methods = given as Readonly<Record<string, UnaryMethod>>;
      const watched = service.methods.flatMap(({ localName, methodKind }): [string, UnaryMethod][] => {
        const method = methods[localName];
        if (methodKind !== 'unary' || method === undefined) return [];
        const call: UnaryMethod = async (...args) => {
          try {
            return await method(...args);
          } catch (caught) {
            failed(caught);
            throw caught;
          }
        };
        return [[localName, call]];
      });
      return { ...given, ...Object.fromEntries(watched) };
    },
  };
}
