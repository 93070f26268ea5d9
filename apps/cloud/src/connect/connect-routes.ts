/**
 * What the line of `platform machines connect` fetches. Below `/connect/<token>`: the installation script, and reports for who made the
 * line. Below `/connect/<ticket>`, which only the script of the last fetch knows: the program, and the credentials (once).
 */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Clock, notFound, permissionDenied, withoutPort } from '@platform/base';
import { clientAddress } from '@platform/rpc/server';
import { type HttpResponse, type Route, writeHead } from '../wire/route.ts';
import type { Bundle } from './bundle.ts';
import { installScript } from './install-script.ts';
import { type ConnectToken, type ConnectTokens, requireUnused } from './tokens.ts';

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

const json = 'application/json; charset=utf-8';

export function connectRoutes(deps: ConnectRouteDeps): Route {
  const { tokens, bundle, clock } = deps;
  return async (request, response, url) => {
    const [, token = '', asked = ''] = /^\/connect\/([\w-]+)(?:\/([\w.-]+))?$/.exec(url.pathname) ?? [];
    if (token === '') return false;
    const address = withoutPort(clientAddress(request));
    switch (`${request.method} ${asked}`) {
      case 'GET ': {
        tokens.find(token);
        const parts = await bundle();
        const { found, ticket } = tokens.take(token, address);
        const script = installScript(parts, { base: `${url.origin}/connect/${ticket}`, partId: found.partId });
        send(response, 'text/x-shellscript; charset=utf-8', script);
        return true;
      }
      case 'GET machine-server.tar.gz': {
        const found = tokens.findByTicket(token);
        const { archive } = await bundle();
        found.downloadedMs ??= clock.now();
        send(response, 'application/gzip', archive);
        return true;
      }
      case 'GET node': {
        tokens.findByTicket(token);
        const { node } = await bundle();
        if (node === undefined) throw notFound('connect: this cloud has no Node to hand out');
        await pipeline(node.open(), begin(response, node.bytes));
        return true;
      }
      case 'GET state':
        send(response, json, JSON.stringify(stateOf(tokens.find(token))));
        return true;
      case 'POST credentials': {
        const found = tokens.findByTicket(token);
        if (!(await deps.isAllowed(found)))
          throw permissionDenied('connect: whoever made this token no longer owns the machine');
        // Meanwhile, somebody may have fetched the line, or used this ticket.
        tokens.findByTicket(token);
        requireUnused(found);
        found.used = { atMs: clock.now(), address };
        await deps.used(found.partId, clientAddress(request));
        send(response, json, JSON.stringify(await deps.credentials(found.partId, url.origin), null, 2));
        return true;
      }
      default:
        return false;
    }
  };
}

/** Addresses are for the eyes of who made the line. */
function stateOf({ partId, expiresMs, fetchCount, fetches, downloadedMs, used }: ConnectToken): object {
  const at = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
  return {
    ...{ part_id: partId, expires_at: at(expiresMs) },
    fetch_count: fetchCount,
    fetches: fetches.map(({ atMs, address }) => ({ at: at(atMs), address })),
    ...{ fetched_at: at(downloadedMs), used_at: at(used?.atMs), used_from: used?.address ?? null },
  };
}

function send(response: HttpResponse, type: string, body: string | Uint8Array): void {
  begin(response, Buffer.byteLength(body), type).end(body);
}

function begin(response: HttpResponse, bytes: number, type = 'application/octet-stream'): ServerResponse {
  return writeHead(response, 200, {
    'content-type': type,
    'content-length': bytes,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
}
