/**
 * The session of a browser as the credential of a request (D49): a cookie, and a secret that only pages of this cloud have. Browsers send
 * the cookie to every port of this host, so neither half is enough, and a page of another origin may use neither.
 */
import { permissionDenied } from '@platform/base';
import { joinHalves } from '../access/access-token.ts';
import { ofForeignPage } from '../access/guess-limit.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import { isBehindProxy, type KindOfPage, type PageHeaders } from './own-pages.ts';
import type { UnknownAddress } from './unknown-address.ts';

/** The header with the secret. Forms have it in the field `session`. */
export const secretHeader = 'platform-session';

export interface SessionOfRequest {
  /** The header `cookie`. */
  readonly cookies: string;
  readonly secret: string;
  readonly page: PageHeaders;
  /** GET and HEAD, for which browsers may name no origin. */
  readonly isRead: boolean;
}

export interface BrowserSession {
  /** @throws permission_denied unless a page of this cloud posted the form */
  requireOwnForm(page: PageHeaders): void;
  /** The address for guessing limits: attempts that pages of other origins cause are counted apart. */
  guesserOf(page: PageHeaders, peerAddress: string): string;
  /** The value of the session's cookie; undefined if there is none. */
  cookieOf(cookies: string): string | undefined;
  /** The access token of the session; undefined unless both halves are there, and a page of this cloud asks. */
  tokenOf(request: SessionOfRequest): string | undefined;
  /** Other clouds on this host have cookies of other names. */
  cookieName(purpose: 'session' | 'oidc'): string;
  /** Whether cookies are only for https. */
  isSecure(): boolean;
}

export function createBrowserSession(deps: {
  readonly instanceKey: Pick<InstanceKey, 'sign'>;
  readonly kindOfPage: KindOfPage;
  /** The address that people open. */
  readonly publicUrl: () => string;
  readonly unknownAddress: UnknownAddress;
}): BrowserSession {
  const { instanceKey, kindOfPage, publicUrl, unknownAddress } = deps;
  const installation = instanceKey.sign('name of cookies').slice(0, 8);
  const isSecure = (): boolean => publicUrl().startsWith('https:');
  const cookieName = (purpose: string): string => `${isSecure() ? '__Host-' : ''}platform_${installation}_${purpose}`;
  const cookieOf = (cookies: string): string | undefined => cookieNamed(cookies, cookieName('session'));
  return {
    requireOwnForm(page) {
      if (kindOfPage(page) === 'own' && page.origin !== '') return;
      const origin = page.origin.slice(0, 100);
      const advice = isBehindProxy(page) ? unknownAddress.advice(origin) : `open the page again at ${publicUrl()}`;
      throw permissionDenied(
        `form: expected one of a page of this cloud, found one of ${JSON.stringify(origin)}; ${advice}`,
      );
    },
    guesserOf: (page, peerAddress) => (kindOfPage(page) === 'foreign' ? ofForeignPage(peerAddress) : peerAddress),
    cookieOf,
    tokenOf({ cookies, secret, page, isRead }) {
      const cookie = cookieOf(cookies);
      if (cookie === undefined || secret === '') return undefined;
      const kind = kindOfPage(page);
      const isOurs = isRead ? kind !== 'foreign' : kind === 'own' && page.origin !== '';
      return isOurs ? joinHalves({ cookie, secret }) : undefined;
    },
    cookieName,
    isSecure,
  };
}

/** The value of a cookie; undefined if there is none of this name. @param cookies the header `cookie` */
export function cookieNamed(cookies: string, name: string): string | undefined {
  return new RegExp(`(?:^|; ?)${name}=([\\w.-]+)`).exec(cookies)?.[1];
}
