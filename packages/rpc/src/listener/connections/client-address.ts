import type { NodeRequest } from '../node-types.ts';
import { connectionOf } from './connection.ts';

/**
 * `address:port` of who sent the request; behind a trusted proxy, of the client that the proxy names, without a port if the proxy does not
 * tell it. Empty if the connection is already gone.
 */
export function clientAddress(request: Pick<NodeRequest, 'socket' | 'headers'>): string {
  return connectionOf(request.socket)?.clientOf(request.headers['x-forwarded-for']) ?? '';
}
