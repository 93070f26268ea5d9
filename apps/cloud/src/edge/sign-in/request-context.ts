/** One request to the sign-in pages: its caller, cookies and form. */
import { invalidArgument, PlatformError, unauthenticated } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import type { SignedInCaller } from '../../identity/account.ts';
import { readBody } from '../../test-inbox/read-body.ts';
import type { HttpRequest, HttpResponse } from '../../wire/route.ts';
import { type BrowserSession, secretHeader } from '../browser-session.ts';
import { authorityOf, headerOf, peerAddressOf, requireType, sendText } from '../http.ts';
import type { PageHeaders } from '../own-pages.ts';

const maxBodyBytes = 16 * 1_024;
const formType = 'application/x-www-form-urlencoded';

export interface RequestContext {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly url: URL;
  readonly peerAddress: string;
  /** For the guessing limits: attempts that pages of other origins cause are counted apart. */
  readonly guesser: string;
  /** The fields of a posted form. */
  readonly fields: URLSearchParams | undefined;
  /** The person of the browser's session, if the request has both of its halves. */
  readonly person: SignedInCaller | undefined;
}

export interface RequestContextDeps {
  readonly browserSession: BrowserSession;
  /** @throws unauthenticated */
  principalOfToken(token: string): Promise<Principal>;
}

/** @throws permission_denied for a form that a page of another origin posted */
export async function requestContextOf(
  deps: RequestContextDeps,
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
): Promise<RequestContext> {
  const peerAddress = peerAddressOf(request);
  const fields = isForm(request) ? await readForm(deps.browserSession, request) : undefined;
  const principal = await principalOfBrowser(deps, request, fields?.get('session') ?? undefined);
  return {
    ...{ request, response, url, peerAddress, fields },
    guesser: guesserOf(deps, request),
    person: principal?.kind === 'person' ? { principal, peerAddress } : undefined,
  };
}

export function guesserOf(
  { browserSession }: Pick<RequestContextDeps, 'browserSession'>,
  request: HttpRequest,
): string {
  return browserSession.guesserOf(pageOf(request), peerAddressOf(request));
}

export function pageOf(request: HttpRequest): PageHeaders {
  return {
    origin: headerOf(request, 'origin'),
    host: authorityOf(request),
    site: headerOf(request, 'sec-fetch-site'),
  };
}

function isForm(request: HttpRequest): boolean {
  return request.method === 'POST' && headerOf(request, 'content-type').toLowerCase().startsWith(formType);
}

/** The person of the browser's session; undefined if half of it is missing, or it has ended. */
export async function principalOfBrowser(
  { browserSession, principalOfToken }: RequestContextDeps,
  request: HttpRequest,
  secret: string = headerOf(request, secretHeader),
): Promise<Principal | undefined> {
  const token = browserSession.tokenOf({
    ...{ cookies: headerOf(request, 'cookie'), secret, page: pageOf(request) },
    isRead: request.method === 'GET' || request.method === 'HEAD',
  });
  if (token === undefined) return undefined;
  return principalOfToken(token).catch((caught: unknown) => {
    if (caught instanceof PlatformError && caught.code === 'unauthenticated') return undefined;
    throw caught;
  });
}

/**
 * Whether the browser may have the secret of its session, but could not send it: navigations have no headers of ours. The page then asks
 * again with it.
 */
export function mayAskAgain({ browserSession }: RequestContextDeps, request: HttpRequest): boolean {
  const hasCookie = browserSession.cookieOf(headerOf(request, 'cookie')) !== undefined;
  return hasCookie && headerOf(request, secretHeader) === '';
}

/** Authenticates the caller of a JSON route: by bearer token, otherwise by the browser's session. @throws unauthenticated */
export async function requireCaller(
  deps: RequestContextDeps,
  request: HttpRequest,
): Promise<{ principal: Principal; peerAddress: string }> {
  const token = /^bearer +(\S+)$/i.exec(headerOf(request, 'authorization'))?.[1];
  const principal = token === undefined ? await principalOfBrowser(deps, request) : await deps.principalOfToken(token);
  if (principal === undefined)
    throw unauthenticated(
      'expected "authorization: Bearer <token>" or the session of a signed-in browser, found neither; sign in first',
    );
  return { principal, peerAddress: peerAddressOf(request) };
}

/** @param maxAgeSeconds 0 removes the cookie; absent: until the browser closes. */
export function cookieText(
  { browserSession }: RequestContextDeps,
  purpose: 'session' | 'oidc',
  value: string,
  maxAgeSeconds?: number,
): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${Math.trunc(maxAgeSeconds)}`;
  const secure = browserSession.isSecure() ? '; Secure' : '';
  // Lax, because people return from an OpenID provider and follow links in e-mails.
  return `${browserSession.cookieName(purpose)}=${value}; HttpOnly; SameSite=Lax; Path=/${age}${secure}`;
}

export function redirect(context: RequestContext, location: string, cookies: readonly string[] = []): void {
  sendText(context.response, 303, 'text/plain', '', { location, 'set-cookie': [...cookies] });
}

/** Returns a path on this cloud; `/` if `next` is anything else. */
export function safePath(next: string | null | undefined): string {
  const base = 'http://here.invalid';
  const url = next?.startsWith('/') ? URL.parse(next, base) : null;
  // Dot segments are resolved now; a path that begins with two slashes would name another host.
  return url?.origin === base && !url.pathname.startsWith('//') ? url.pathname + url.search : '/';
}

/** @throws permission_denied if a page of another origin sent it; resource_exhausted */
async function readForm(browserSession: BrowserSession, request: HttpRequest): Promise<URLSearchParams> {
  browserSession.requireOwnForm(pageOf(request));
  return new URLSearchParams(await readBody(request, maxBodyBytes));
}

/** The fields of the posted form. @throws invalid_argument for another type */
export function requireForm({ request, fields }: RequestContext): URLSearchParams {
  if (fields === undefined) requireType(request, formType);
  return fields ?? new URLSearchParams();
}

/** A posted JSON object. @throws invalid_argument, resource_exhausted */
export async function readJson(request: HttpRequest): Promise<Readonly<Record<string, unknown>>> {
  requireType(request, 'application/json');
  const text = await readBody(request, maxBodyBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (caught) {
    throw invalidArgument('body: expected a JSON object, found text that is not JSON', caught);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw invalidArgument('body: expected a JSON object, found another JSON value');
}

/** @throws invalid_argument */
export function textField(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value === 'string') return value;
  throw invalidArgument(`${name}: expected text, found ${value === undefined ? 'nothing' : typeof value}`);
}
