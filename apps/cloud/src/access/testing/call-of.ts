/** Creates a call as the server passes it to a handler, for tests. */
import type { Call } from '@platform/rpc/server';
import type { Principal } from '../principal.ts';

export function callOf(principal: Principal, metadata: Readonly<Record<string, string>> = {}): Call<Principal> {
  return {
    method: '',
    metadata: new Headers(metadata),
    peerAddress: '127.0.0.1:1',
    vocabulary: 'core',
    signal: new AbortController().signal,
    deadline: undefined,
    principal,
    responseHeaders: new Headers(),
    responseTrailers: new Headers(),
  };
}
