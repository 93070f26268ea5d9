/** Creates calls as the server passes them to handlers, for tests. */
import type { CloudCall, Principal } from '../principal.ts';

/** @param isDelivered whether the answer reaches the caller */
export function callOf(
  principal: Principal,
  metadata: Readonly<Record<string, string>> = {},
  isDelivered = true,
): CloudCall {
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
    onAnswered: (listener) => listener(isDelivered),
  };
}
