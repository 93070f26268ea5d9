/**
 * All plain HTTP routes of the port: sign-in, status page, configuration endpoint, queries, metrics, API document, downloads, test inbox
 * for webhooks.
 */
import { invalidArgument, type Log, notFound, PlatformError, permissionDenied, unauthenticated } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import { grantsOf, type Principal } from '../access/principal.ts';
import type { FileAsked } from '../machines/part-config-file.ts';
import { html } from '../text-rules/html.ts';
import { loggablePath } from '../text-rules/loggable-path.ts';
import type { HttpRequest, HttpResponse, Route } from '../wire/route.ts';
import { authorityOf, headerOf, sendError, sendHtml, sendJson, sendText, sendToSignIn } from './http.ts';
import { isServed } from './served-paths.ts';
import { type Page, sendPage } from './sign-in/page.ts';
import type { SignIn } from './sign-in/sign-in.ts';
import { createStatusPage } from './status-page.ts';
import type { UnknownAddress } from './unknown-address.ts';
import { isPageOfUi, type WebUi } from './web/web-ui.ts';

export interface RouteDeps {
  readonly signIn: SignIn;
  /** The status page shows callers with a role what they may see, and everything to those who own all. */
  readonly access: Pick<Access, 'ownsAll'>;
  /** Absent: the status page is served instead. */
  readonly webUi: WebUi | undefined;
  /** How users start the command line, for hints. */
  readonly command: string;
  /** Throws if such requests from this address are refused to callers without valid credentials. */
  readonly admitStranger: () => void;
  /** Throws without valid credentials, or if the caller is refused. */
  principalOf(request: HttpRequest): Promise<Principal>;
  readonly log: Log;
  /** True if the cloud listens only on loopback: then `Host` must be a loopback name (DNS rebinding). */
  readonly loopbackOnly: boolean;
  /** Names of the cloud that somebody has configured, without ports. */
  readonly namedHosts: readonly string[];
  readonly unknownAddress: UnknownAddress;
  /** PLATFORM_PUBLIC_URL. Behind a proxy that ends TLS, clients that ask for its host reach the cloud under its scheme. */
  readonly publicUrl: string | undefined;
  /** Scheme under which other clients reach the cloud, for the addresses it hands out. */
  readonly scheme: 'http' | 'https';
  /** The part configuration of `GET /api/json1/config` (D32). */
  partConfig(asked: FileAsked): Promise<unknown>;
  /** The content of the status page for this caller. */
  status(principal: Principal): Promise<unknown>;
  /** The document of `GET /openapi.json`. */
  openApi(): Promise<unknown>;
  /** Answers `GET /metrics`. */
  metrics(request: HttpRequest, response: HttpResponse): Promise<void>;
  /** Tried in this order, for every method. */
  readonly routes: readonly Route[];
  /** Tried afterwards, for GET and HEAD. */
  readonly readRoutes: readonly Route[];
}

export function createRoutes(deps: RouteDeps): (request: HttpRequest, response: HttpResponse) => void {
  const { signIn, webUi, log, loopbackOnly, namedHosts, unknownAddress, scheme } = deps;
  const statusPage = createStatusPage(deps.command);
  const publicUrl = deps.publicUrl === undefined ? undefined : new URL(deps.publicUrl);
  const hasStatus = (principal: Principal): boolean => grantsOf(principal).length > 0 || deps.access.ownsAll(principal);

  const schemeOf = (authority: string): string => (authority === publicUrl?.host ? publicUrl.protocol : `${scheme}:`);
  const adviceAbout = (authority: string): string =>
    /^[\w.-]{1,100}$/.test(authority) ? `; ${unknownAddress.advice(`https://${authority}`)}` : '';

  /** Many routes never ask for credentials; so whether these are valid is asked here, if the address is refused. */
  const admit = async (request: HttpRequest): Promise<void> => {
    try {
      deps.admitStranger();
    } catch (refusal) {
      await deps.principalOf(request).catch(() => {
        throw refusal;
      });
    }
  };

  const route = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const authority = authorityOf(request);
    if (loopbackOnly && !isLoopbackName(authority) && !namedHosts.includes(nameIn(authority))) {
      throw permissionDenied(
        `host: expected localhost or a loopback address, found ${JSON.stringify(authority.slice(0, 100))}: this cloud listens on loopback only${adviceAbout(authority)}`,
      );
    }
    const url = urlOf(request.url ?? '/', authority || 'localhost', schemeOf(authority));
    await admit(request);
    if (!isServed(url.pathname)) throw notFound(`${request.method} ${url.pathname}: no such route`);
    for (const handle of [signIn.handle, ...deps.routes]) if (await handle(request, response, url)) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw notFound(`${request.method} ${url.pathname}: no such route`);
    }
    for (const handle of deps.readRoutes) if (await handle(request, response, url)) return;
    if (webUi?.file(request, response, url.pathname)) return;
    if (webUi !== undefined && isPageOfUi(url.pathname)) {
      // The page is the same for everybody; what it shows, it asks for with the secret of the session.
      if (!signIn.hasCookie(request)) return sendToSignIn(response, url);
      return webUi.page(request, response);
    }
    switch (url.pathname) {
      case '/api/json1/config': {
        const body = await deps.partConfig({
          partId: url.searchParams.get('id') ?? '',
          keyId: headerOf(request, 'key_id'),
          key: headerOf(request, 'key'),
          baseUrl: url.origin,
          peerAddress: signIn.guesserOf(request),
        });
        return sendJson(response, 200, body);
      }
      case '/openapi.json':
        return sendJson(response, 200, await deps.openApi());
      case '/metrics':
        return deps.metrics(request, response);
      case '/healthz':
        return sendJson(response, 200, { ok: true });
      case '/':
      case '/status': {
        if (!signIn.hasCookie(request)) return sendPage(response, strangersPage);
        if (webUi !== undefined && url.pathname === '/') return webUi.page(request, response);
        return sendHtml(response, 200, statusPage.html, {
          'content-security-policy': statusPage.contentSecurityPolicy,
        });
      }
      case '/api/status': {
        const principal = await signIn.principalOf(request);
        if (principal === undefined)
          throw unauthenticated('status: expected the session of a signed-in browser, found none; sign in first');
        if (!hasStatus(principal))
          throw permissionDenied(
            `you have no role in any organization, so there is nothing to show: ask an owner for an invitation, or create an organization of your own with ${deps.command} login, then ${deps.command} organizations create NAME`,
          );
        return sendJson(response, 200, await deps.status(principal));
      }
      case '/favicon.ico':
        return sendText(response, 204, 'image/x-icon', '');
      default:
        throw notFound(`GET ${url.pathname}: no such route`);
    }
  };

  return (request, response) => {
    route(request, response).catch((caught: unknown) => {
      if (response.headersSent) return void response.destroy?.();
      if (isOpened(request) && caught instanceof PlatformError && caught.code === 'not_found')
        return sendPage(response, nothingAt(caught.message));
      sendError(response, caught, loggablePath((request.url ?? '').split('?', 1)[0] ?? ''), log);
    });
  };
}

const strangersPage = {
  title: 'Sign in',
  status: 401,
  body: html`<h1>You are not signed in</h1><p>On a first start, open the sign-in link that <em>npm start</em> printed in its terminal; it works once. After that, sign in with your e-mail address.</p><a class="button" href="/sign-in">Sign in</a>`,
};

const nothingAt = (message: string): Page => ({
  title: 'Nothing here',
  status: 404,
  body: html`<h1>There is nothing at this address</h1><p>It may be mistyped, cut at the end of a line, or what it led to was deleted.</p><p class="quiet">${message}</p><a class="button" href="/">Your machines</a>`,
});

/** Whether a person opened the address in a browser; programs get errors as they expect them. */
function isOpened(request: HttpRequest): boolean {
  return request.method === 'GET' && headerOf(request, 'accept').includes('text/html');
}

function nameIn(authority: string): string {
  return authority.replace(/:\d+$/, '').toLowerCase();
}

function isLoopbackName(authority: string): boolean {
  const name = nameIn(authority);
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Resolves `asked` on this server: neither `//elsewhere/` nor `http://elsewhere/` can point to another one. @throws invalid_argument */
function urlOf(asked: string, authority: string, protocol: string): URL {
  const url = URL.parse(`${protocol}//${authority}${asked.replace(/^https?:\/\/[^/?#]*/i, '')}`);
  if (url !== null) return url;
  const found = JSON.stringify(`${authority}${asked}`.slice(0, 100));
  throw invalidArgument(`request: expected an address of this server, found ${found}`);
}
