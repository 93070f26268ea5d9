/**
 * Plain HTTP on the machine's port: the status page at `/`, and `/restart_status` for agents.
 *
 * The page is shown to whom the machine would answer: with credentials configured, to HTTP Basic with the id and the value of an API key,
 * or any name and a location secret; without, to this computer only. `/restart_status` is answered to this computer only.
 */
import { type Clock, errorText, type Log } from '@platform/base';
import type { NodeListener, NodeRequest, NodeResponse } from '@platform/rpc/server';
import type { Graph } from '../graph/graph.ts';
import type { MachineAuth } from './authenticate.ts';
import type { MachineFacts } from './machine-rpc.ts';
import type { Operations } from './operations.ts';
import { restartStatus } from './restart-status.ts';
import { statusPage } from './status-page.ts';

export interface HttpPagesDeps {
  readonly graph: Graph;
  readonly auth: MachineAuth;
  readonly operations: Operations;
  readonly facts: () => MachineFacts;
  readonly clock: Clock;
  readonly log: Log;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: 'html' | 'json' | 'text';
  readonly body: string;
}

const types = { html: 'text/html; charset=utf-8', json: 'application/json', text: 'text/plain; charset=utf-8' };

const always = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function httpPages(deps: HttpPagesDeps): NodeListener {
  return (request, response) => {
    answer(deps, request).then(
      (made) => send(response, made, request.method === 'HEAD'),
      (caught: unknown) => {
        deps.log.error('a page could not be made', { error: errorText(caught) });
        send(response, { status: 500, body: 'machine-server: the page could not be made; the log says why\n' }, false);
      },
    );
  };
}

async function answer(deps: HttpPagesDeps, request: NodeRequest): Promise<Answer> {
  const path = (request.url ?? '').split('?', 1)[0];
  if (path !== '/' && path !== '/restart_status')
    return { status: 404, body: 'machine-server: this port speaks gRPC, gRPC-Web and Connect; its status is at /\n' };
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { status: 405, headers: { allow: 'GET, HEAD' }, body: 'machine-server: expected GET\n' };
  if (path === '/restart_status') {
    if (!isLocal(request)) return { status: 403, body: 'machine-server: /restart_status answers this computer only\n' };
    return { status: 200, type: 'json', body: `${JSON.stringify(await restartStatus(deps))}\n` };
  }
  const { auth, graph, facts, clock } = deps;
  if (auth.open && !isLocal(request))
    return {
      status: 403,
      body: 'machine-server: without credentials in the configuration, the status page is for this computer only\n',
    };
  if (!auth.open && !isSignedIn(auth, request)) {
    const challenge = { 'www-authenticate': 'Basic realm="machine-server", charset="UTF-8"' };
    const body = 'machine-server: sign in with the id of an API key as user name and the key as password\n';
    return { status: 401, headers: challenge, body };
  }
  const [resources, restart] = [graph.status(), await restartStatus(deps)];
  return { status: 200, type: 'html', body: statusPage({ facts: facts(), resources, restart, nowMs: clock.now() }) };
}

/** Whether the request comes from this computer, and a browser has not been led here by the name of another one. */
function isLocal(request: NodeRequest): boolean {
  const { remoteAddress = '', localAddress } = request.socket;
  const host = String(request.headers[':authority'] ?? request.headers.host ?? '').replace(/:\d+$/, '');
  const isOwnName = /^(localhost|[\d.]+|\[[\da-f:.]+\])$/i.test(host);
  const isOwnPeer = /^(::ffff:)?127\.|^::1$/.test(remoteAddress) || remoteAddress === localAddress;
  return isOwnPeer && isOwnName;
}

function isSignedIn(auth: MachineAuth, request: NodeRequest): boolean {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return auth.accepts('api-key', user, password) || auth.accepts('robot-location-secret', user, password);
}

function send(response: NodeResponse, { status, headers = {}, type = 'text', body }: Answer, isHead: boolean): void {
  response.statusCode = status;
  const all = { ...always, ...headers, 'content-type': types[type], 'content-length': String(Buffer.byteLength(body)) };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  // The two types differ in overloads only, yet TypeScript cannot call their union.
  if ('stream' in response) response.end(isHead ? '' : body);
  else response.end(isHead ? '' : body);
}
