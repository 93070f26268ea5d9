/** One request to the sign-in pages: its caller, cookies and form. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { PlatformError } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import type { SignedInCaller } from '../../identity/account.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import { readBody } from '../../test-inbox/read-body.ts';
import { type HttpRequest, type HttpResponse, headerOf, peerAddressOf, requireType, sendText } from '../http.ts';

export const sessionCookie = 'platform_session';
const formCookie = 'platform_form';
const maxBodyBytes = 16 * 1_024;

export interface RequestContext {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly url: URL;
  readonly peerAddress: string;
  readonly secure: boolean;
  /** The person of the session cookie. */
  readonly person: SignedInCaller | undefined;
}

export interface RequestContextDeps {
  /** @throws unauthenticated */
  principalOfToken(token: string): Promise<Principal>;
}

export async function requestContextOf(
  deps: RequestContextDeps,
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
): Promise<RequestContext> {
  const peerAddress = peerAddressOf(request);
  const principal = await principalOfCookie(deps, request);
  const person = principal?.kind === 'person' ? { principal, peerAddress } : undefined;
  return { request, response, url, peerAddress, secure: url.protocol === 'https:', person };
}

/** The person of the browser's session cookie; undefined if there is no valid session. */
export async function principalOfCookie(
  deps: RequestContextDeps,
  request: HttpRequest,
): Promise<Principal | undefined> {
  const token = cookieOf(request, sessionCookie);
  if (token === undefined) return undefined;
  return deps.principalOfToken(token).catch((caught: unknown) => {
    if (caught instanceof PlatformError && caught.code === 'unauthenticated') return undefined;
    throw caught;
  });
}

/** Authenticates the caller of a JSON route: by bearer token, otherwise by cookie. @throws unauthenticated */
export async function requireCaller(
  deps: RequestContextDeps,
  request: HttpRequest,
): Promise<{ principal: Principal; peerAddress: string }> {
  const token = /^bearer +(\S+)$/i.exec(headerOf(request, 'authorization'))?.[1];
  const principal = token === undefined ? await principalOfCookie(deps, request) : await deps.principalOfToken(token);
  if (principal === undefined)
    throw new PlatformError(
      'unauthenticated',
      'expected "authorization: Bearer <token>" or the session of a signed-in browser, found neither; sign in first',
    );
  return { principal, peerAddress: peerAddressOf(request) };
}

export function cookieOf(request: HttpRequest, name: string): string | undefined {
  return new RegExp(`(?:^|; ?)${name}=([\\w.-]+)`).exec(headerOf(request, 'cookie'))?.[1];
}

/** @param maxAgeSeconds 0 removes the cookie; absent: until the browser closes. */
export function cookieText(
  context: Pick<RequestContext, 'secure'>,
  name: string,
  value: string,
  maxAgeSeconds?: number,
): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${Math.trunc(maxAgeSeconds)}`;
  // Lax, because people return from an OpenID provider and follow links in e-mails.
  return `${name}=${value}; HttpOnly; SameSite=Lax; Path=/${age}${context.secure ? '; Secure' : ''}`;
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

export interface FormToken {
  /** The value of the field `form` in every form of the page. */
  readonly value: string;
  /** The `set-cookie` headers to send with the page. */
  readonly cookies: readonly string[];
}

/** A token that only forms in this browser have: bound to its session, or to a separate cookie. */
export function formToken(instanceKey: InstanceKey, context: RequestContext): FormToken {
  const known = cookieOf(context.request, sessionCookie) ?? cookieOf(context.request, formCookie);
  const binding = known ?? randomBytes(24).toString('base64url');
  return {
    value: instanceKey.sign(`form ${binding}`),
    cookies: known === undefined ? [cookieText(context, formCookie, binding)] : [],
  };
}

/** The fields of a posted form. @throws permission_denied if another site sent it; invalid_argument, resource_exhausted */
export async function readForm(instanceKey: InstanceKey, context: RequestContext): Promise<URLSearchParams> {
  const { request } = context;
  requireType(request, 'application/x-www-form-urlencoded');
  const fields = new URLSearchParams(await readBody(request, maxBodyBytes));
  const given = Buffer.from(fields.get('form') ?? '');
  const known = [sessionCookie, formCookie].flatMap((name) => cookieOf(request, name) ?? []);
  const ours = known.some((binding) => {
    const expected = Buffer.from(instanceKey.sign(`form ${binding}`));
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  const site = headerOf(request, 'sec-fetch-site');
  if (!ours || !['', 'same-origin', 'none'].includes(site))
    throw new PlatformError(
      'permission_denied',
      'form: expected one that this browser recently received from this cloud, found another; go back, reload the page and try again',
    );
  return fields;
}

/** A posted JSON object. @throws invalid_argument, resource_exhausted */
export async function readJson(request: HttpRequest): Promise<Readonly<Record<string, unknown>>> {
  requireType(request, 'application/json');
  const text = await readBody(request, maxBodyBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (caught) {
    throw new PlatformError('invalid_argument', 'body: expected a JSON object, found text that is not JSON', caught);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new PlatformError('invalid_argument', 'body: expected a JSON object, found another JSON value');
}

/** @throws invalid_argument */
export function textField(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value === 'string') return value;
  throw new PlatformError(
    'invalid_argument',
    `${name}: expected text, found ${value === undefined ? 'nothing' : typeof value}`,
  );
}
