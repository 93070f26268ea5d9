/**
 * The paths below `/connect/<token>`, for the line that `platform machines connect` prints: the installation script, what it downloads, the
 * credentials (once), and reports of its progress.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { pipeline } from 'node:stream/promises';
import { type Clock, PlatformError } from '@platform/base';
import type { Bundle } from './bundle.ts';
import { installScript } from './install-script.ts';
import type { ConnectToken, ConnectTokens } from './tokens.ts';

export interface ConnectRouteDeps {
  readonly tokens: ConnectTokens;
  readonly bundle: () => Promise<Bundle>;
  /** The credentials file of a part. @param address at which the machine reaches the cloud */
  credentials(partId: string, address: string): Promise<object>;
  /** Whether the person who made the token may still hand out the credentials. */
  isAllowed(token: ConnectToken): Promise<boolean>;
  /** Records the use of a token in the audit trail. */
  used(partId: string, peerAddress: string): Promise<void>;
  readonly clock: Clock;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

export type ConnectRoutes = (request: Request, response: Response, url: URL) => Promise<boolean>;

const json = 'application/json; charset=utf-8';

/** Returns false for other paths. */
export function connectRoutes(deps: ConnectRouteDeps): ConnectRoutes {
  const { tokens, bundle, clock } = deps;
  return async (request, response, url) => {
    const [, token = '', asked = ''] = /^\/connect\/([\w-]+)(?:\/([\w.-]+))?$/.exec(url.pathname) ?? [];
    if (token === '') return false;
    const found = tokens.find(token);
    switch (`${request.method} ${asked}`) {
      case 'GET ': {
        const script = installScript(await bundle(), { base: `${url.origin}/connect/${token}`, partId: found.partId });
        send(response, 'text/x-shellscript; charset=utf-8', script);
        return true;
      }
      case 'GET machine-server.tar.gz': {
        const { archive } = await bundle();
        found.fetchedMs ??= clock.now();
        send(response, 'application/gzip', archive);
        return true;
      }
      case 'GET node': {
        const { node } = await bundle();
        if (node === undefined) throw new PlatformError('not_found', 'connect: this cloud has no Node to hand out');
        await pipeline(node.open(), begin(response, node.bytes));
        return true;
      }
      case 'GET state':
        send(response, json, JSON.stringify(stateOf(found)));
        return true;
      case 'POST credentials': {
        if (found.usedMs !== undefined) throw usedBefore();
        if (!(await deps.isAllowed(found)))
          throw new PlatformError('permission_denied', 'connect: whoever made this token no longer owns the machine');
        if (found.usedMs !== undefined) throw usedBefore();
        found.usedMs = clock.now();
        await deps.used(found.partId, request.socket.remoteAddress ?? '');
        send(response, json, JSON.stringify(await deps.credentials(found.partId, url.origin), null, 2));
        return true;
      }
      default:
        return false;
    }
  };
}

function usedBefore(): PlatformError {
  return new PlatformError('already_exists', 'connect: the credentials of this token have already been downloaded');
}

function stateOf({ partId, expiresMs, fetchedMs, usedMs }: ConnectToken): object {
  const at = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
  return { part_id: partId, expires_at: at(expiresMs), fetched_at: at(fetchedMs), used_at: at(usedMs) };
}

function send(response: Response, type: string, body: string | Uint8Array): void {
  begin(response, Buffer.byteLength(body), type).end(body);
}

function begin(response: Response, bytes: number, type = 'application/octet-stream'): ServerResponse {
  // The two response classes share these methods, but their overloads differ.
  const plain = response as ServerResponse;
  plain.writeHead(200, {
    'content-type': type,
    'content-length': bytes,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  return plain;
}
