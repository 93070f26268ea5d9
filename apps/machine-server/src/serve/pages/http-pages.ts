/**
 * Plain HTTP on the machine's port: the status page at `/`, `/restart_status` for agents, the files of `-shareddir` at `/static/`, and the
 * profiler of `-webprofile` at `/debug/`.
 *
 * The page and the files are shown to callers that the machine accepts: with configured credentials, by HTTP Basic with the id and the
 * value of an API key, or any name and a location secret; without credentials, only to this computer. The profiler needs both: a caller
 * that is accepted, and on this computer. `/restart_status` answers this computer without credentials.
 */
import { create, type JsonObject } from '@bufbuild/protobuf';
import { type Clock, errorText, type Log, plainAddress, withoutPort } from '@platform/base';
import { GetStatusRequestSchema } from '@platform/proto/platform/common/v1/common';
import { dataManager } from '@platform/resources';
import { clientAddress, type NodeListener, type NodeRequest } from '@platform/rpc/server';
import type { Profiler } from '../../diagnostics/profiler.ts';
import type { Graph } from '../../graph/graph.ts';
import type { MachineAuth } from '../authenticate.ts';
import type { MachineFacts, MachineRpcDeps } from '../machine-rpc.ts';
import type { Operations } from '../operations.ts';
import { type Answer, sendAnswer } from './answer.ts';
import { acceptsHost, type OwnNames } from './page-rule.ts';
import { profilerPage } from './profiler-pages.ts';
import { restartStatus } from './restart-status.ts';
import type { SharedFiles } from './shared-files.ts';
import { statusPage } from './status-page.ts';

export interface HttpPagesDeps {
  readonly graph: Graph;
  readonly auth: MachineAuth;
  /** What pages may call an open port (D50). */
  readonly ownNames: () => OwnNames;
  readonly operations: Operations;
  readonly facts: () => MachineFacts;
  /** See MachineRpcDeps. */
  readonly warningsOf: MachineRpcDeps['warningsOf'];
  /** `-webprofile`. */
  readonly profiler: Profiler | undefined;
  /** `-shareddir`. */
  readonly shared: SharedFiles | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export function httpPages(deps: HttpPagesDeps): NodeListener {
  return (request, response) => {
    answer(deps, request).then(
      (made) => sendAnswer(response, made, request.method === 'HEAD'),
      (caught: unknown) => {
        deps.log.error('a page could not be created', { error: errorText(caught) });
        sendAnswer(
          response,
          { status: 500, body: 'machine-server: the page could not be created; the log says why\n' },
          false,
        );
      },
    );
  };
}

/** What it serves; `…` stands for anything. docs/specs/doors.md says who reaches it. */
export const pagePaths = ['/', '/restart_status', '/static/…', '/debug/…'] as const;

async function answer(deps: HttpPagesDeps, request: NodeRequest): Promise<Answer> {
  const { graph, facts, warningsOf, clock, profiler, shared } = deps;
  const [path = '', search = ''] = (request.url ?? '').split('?', 2);
  const page = pagePaths.find((one) => (one.endsWith('…') ? path.startsWith(one.slice(0, -1)) : path === one));
  const isDebug = profiler !== undefined && page === '/debug/…';
  const isStatic = shared !== undefined && page === '/static/…';
  if (page !== '/' && page !== '/restart_status' && !isDebug && !isStatic)
    return { status: 404, body: 'machine-server: this port speaks gRPC, gRPC-Web and Connect; its status is at /\n' };
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { status: 405, headers: { allow: 'GET, HEAD' }, body: 'machine-server: expected GET\n' };
  if ((isDebug || page === '/restart_status') && !isLocal(deps, request))
    return { status: 403, body: `machine-server: ${path} answers only this computer\n` };
  if (page === '/restart_status')
    return { status: 200, type: 'json', body: `${JSON.stringify(await restartStatus(deps))}\n` };
  const refused = refusal(deps, request);
  if (refused !== undefined) return refused;
  // A profile takes time, and an address in a page of others would start one.
  if (isDebug && !['', 'none', 'same-origin'].includes(String(request.headers['sec-fetch-site'] ?? '')))
    return { status: 403, body: 'machine-server: the profiler answers no page of others\n' };
  if (isDebug) return profilerPage(profiler, path, new URLSearchParams(search));
  if (isStatic) return staticFile(shared, path.slice('/static/'.length));
  const [resources, restart] = [graph.status(), await restartStatus(deps)];
  const shown = { facts: facts(), resources, warningsOf, restart, data: await dataOf(graph), nowMs: clock.now() };
  return { status: 200, body: statusPage(shown) };
}

/** The status of the data manager; undefined if none runs. */
async function dataOf(graph: Graph): Promise<JsonObject | undefined> {
  const config = graph
    .status()
    .find(({ config: { api }, state }) => api === dataManager.api && state === 'ready')?.config;
  const found = config === undefined ? undefined : graph.get(`${config.api}/${config.name}`);
  if (found === undefined || !dataManager.implementedBy(found)) return undefined;
  const { signal } = new AbortController();
  return (await found.getStatus?.(create(GetStatusRequestSchema), { signal }))?.result;
}

/** Undefined if the caller may see the page. */
function refusal(deps: HttpPagesDeps, request: NodeRequest): Answer | undefined {
  const { auth } = deps;
  if (auth.open && !isLocal(deps, request))
    return {
      status: 403,
      body: 'machine-server: without credentials in the configuration, its pages are for this computer only\n',
    };
  if (auth.open || isSignedIn(auth, request)) return undefined;
  const challenge = { 'www-authenticate': 'Basic realm="machine-server", charset="UTF-8"' };
  const body = 'machine-server: sign in with the id of an API key as user name and the key as password\n';
  return { status: 401, headers: challenge, body };
}

/** Pages may use scripts and images of their own directory. */
const ownContent = "default-src 'self' 'unsafe-inline' data: blob:; base-uri 'none'; frame-ancestors 'none'";

async function staticFile(shared: SharedFiles, path: string): Promise<Answer> {
  const file = await shared(path);
  if (file === undefined) return { status: 404, body: 'machine-server: no such file in the shared directory\n' };
  return { status: 200, headers: { 'content-security-policy': ownContent }, body: file };
}

/** Whether the request comes from this computer, and not from a browser that another name directed here. */
function isLocal({ ownNames }: HttpPagesDeps, request: NodeRequest): boolean {
  const { localAddress } = request.socket;
  // Behind a trusted proxy, that of the client.
  const address = withoutPort(clientAddress(request));
  const isOwnName = acceptsHost(ownNames(), String(request.headers[':authority'] ?? request.headers.host ?? ''));
  const isOwnPeer = /^127\.|^::1$/.test(address) || address === plainAddress(localAddress ?? '');
  return isOwnPeer && isOwnName;
}

function isSignedIn(auth: MachineAuth, request: NodeRequest): boolean {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return auth.accepts('api-key', user, password) || auth.accepts('robot-location-secret', user, password);
}
