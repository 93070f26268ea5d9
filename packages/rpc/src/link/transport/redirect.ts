/** Redirects, which calls do not follow: whoever answers with one is not the server, and must not get the token. */
import { Code, ConnectError } from '@connectrpc/connect';

/** Undefined if the answer is no redirect. @param location its header */
export function redirectOf(status: number, location: string | null | undefined): ConnectError | undefined {
  if (status < 300 || status > 399) return undefined;
  return new ConnectError(`it ${redirectText(status, location)}`, Code.Unavailable);
}

export function redirectText(status: number, location: string | null | undefined): string {
  const to = location === null || location === undefined ? 'without an address' : `to ${location.slice(0, 300)}`;
  return `answers with a redirect ${to} (status ${status}), which is not followed: use the address of the server itself`;
}
