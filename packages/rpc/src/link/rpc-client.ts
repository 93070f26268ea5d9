/** A client with its own link. */
import type { DescService } from '@bufbuild/protobuf';
import { type Client, connect, type LinkOptions } from './connect.ts';

/** For one service; for several, share one `connect`. Dispose it to close the connection. */
export function createRpcClient<S extends DescService>(service: S, options: LinkOptions): Client<S> & AsyncDisposable {
  const link = connect(options);
  return Object.assign(link.client(service), { [Symbol.asyncDispose]: () => link[Symbol.asyncDispose]() });
}
