/** Everything on the port that is not RPC: the status page, the configuration endpoint, the webhook catcher. */
import { errorText, type Log, PlatformError } from '@platform/base';
import { authorityOf, type HttpRequest, type HttpResponse, headerOf, sendError, sendJson, sendText } from './http.ts';
import type { Sessions } from './sessions.ts';
import { signInHint, statusPage } from './status-page.ts';

export interface RouteDeps {
  readonly sessions: Sessions;
  readonly log: Log;
  /** True when the cloud listens on loopback only: then only loopback names may stand in `Host` (DNS rebinding). */
  readonly loopbackOnly: boolean;
  /** How the cloud is reached, for the addresses that it gives out. */
  readonly scheme: 'http' | 'https';
  /** The part configuration of `GET /api/json1/config` (D32). */
  partConfig(
    query: URLSearchParams,
    keyId: string,
    key: string,
    baseUrl: string,
    peerAddress: string,
  ): Promise<unknown>;
  /** What the status page shows. */
  status(): Promise<unknown>;
  /** Handles a request below /catcher/; false when there is no such route. */
  catcher(request: HttpRequest, response: HttpResponse): Promise<boolean>;
  /** Handles `GET /logos/<id>`; false when there is no such logo. */
  logo(request: HttpRequest, response: HttpResponse): Promise<boolean>;
}

export function createRoutes(deps: RouteDeps): (request: HttpRequest, response: HttpResponse) => void {
  const { sessions, log, loopbackOnly, scheme } = deps;

  const route = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const authority = authorityOf(request);
    if (loopbackOnly && !isLoopbackName(authority)) {
      throw new PlatformError(
        'permission_denied',
        `host: expected localhost or a loopback address, found ${JSON.stringify(authority.slice(0, 100))}: this cloud listens on loopback only`,
      );
    }
    const url = urlOf(request.url ?? '/', authority || 'localhost', scheme);
    if (url.pathname.startsWith('/catcher/') && (await deps.catcher(request, response))) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new PlatformError('not_found', `${request.method} ${url.pathname}: no such route`);
    }
    if (url.pathname.startsWith('/logos/') && (await deps.logo(request, response))) return;
    switch (url.pathname) {
      case '/api/json1/config': {
        const body = await deps.partConfig(
          url.searchParams,
          headerOf(request, 'key_id'),
          headerOf(request, 'key'),
          url.origin,
          request.socket.remoteAddress ?? '',
        );
        return sendJson(response, 200, body);
      }
      case '/healthz':
        return sendJson(response, 200, { ok: true });
      case '/sign-in': {
        // Link previews ask with HEAD; only a visit uses the link up.
        if (request.method === 'HEAD') return sendText(response, 200, 'text/html', '');
        const cookie = sessions.exchange(url.searchParams.get('token') ?? '');
        if (cookie === undefined)
          return sendText(
            response,
            401,
            'text/html',
            signInHint('This link was used already, or belongs to an earlier start.'),
          );
        return sendText(response, 303, 'text/plain', 'signed in', { location: '/', 'set-cookie': cookie });
      }
      case '/':
        if (!sessions.isSignedIn(request))
          return sendText(response, 401, 'text/html', signInHint('You are not signed in.'));
        return sendText(response, 200, 'text/html', statusPage.html, {
          'content-security-policy': statusPage.contentSecurityPolicy,
        });
      case '/api/status':
        if (!sessions.isSignedIn(request))
          throw new PlatformError(
            'unauthenticated',
            'status: expected the session of a signed-in browser; open the link that the cloud printed at start',
          );
        return sendJson(response, 200, await deps.status());
      case '/favicon.ico':
        return sendText(response, 204, 'image/x-icon', '');
      default:
        throw new PlatformError('not_found', `GET ${url.pathname}: no such route`);
    }
  };

  return (request, response) => {
    route(request, response).catch((caught: unknown) => {
      if (response.headersSent) return void response.destroy?.();
      if (sendError(response, caught)) log.error('request failed', { path: request.url, error: errorText(caught) });
    });
  };
}

function isLoopbackName(authority: string): boolean {
  const name = authority.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Where `asked` is on this server: neither `//elsewhere/` nor `http://elsewhere/` leads away from it. @throws invalid_argument */
function urlOf(asked: string, authority: string, scheme: string): URL {
  const url = URL.parse(`${scheme}://${authority}${asked.replace(/^https?:\/\/[^/?#]*/i, '')}`);
  if (url !== null) return url;
  const found = JSON.stringify(`${authority}${asked}`.slice(0, 100));
  throw new PlatformError('invalid_argument', `request: expected an address of this server, found ${found}`);
}
