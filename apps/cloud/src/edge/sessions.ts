/**
 * Browser sessions of this installation's status page.
 *
 * A one-time link, printed at start, becomes a session cookie. Both live in memory: a restart of the cloud ends them, and
 * prints a new link. People with passwords and OpenID Connect come with accounts.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Clock, newSecret } from '@platform/base';
import { type HttpRequest, headerOf } from './http.ts';

const sessionMs = 12 * 3_600_000;
const cookieName = 'platform_session';

export interface Sessions {
  /** A token that can be exchanged once. */
  createOneTimeToken(): string;
  /** The `set-cookie` value for a one-time token; undefined when it is not (or no longer) one. */
  exchange(token: string): string | undefined;
  isSignedIn(request: HttpRequest): boolean;
}

export function createSessions(clock: Clock): Sessions {
  const oneTime = new Set<string>();
  const sessions = new Map<string, number>();
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const same = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(a), Buffer.from(b));
  return {
    createOneTimeToken() {
      const token = newSecret();
      oneTime.add(digest(token));
      return token;
    },
    exchange(token) {
      const given = digest(token);
      const known = [...oneTime].find((one) => same(one, given));
      if (known === undefined) return undefined;
      oneTime.delete(known);
      const session = newSecret();
      sessions.set(digest(session), clock.now() + sessionMs);
      return `${cookieName}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${sessionMs / 1_000}`;
    },
    isSignedIn(request) {
      const cookie = headerOf(request, 'cookie');
      const session = new RegExp(`(?:^|; )${cookieName}=([\\w-]+)`).exec(cookie)?.[1];
      const untilMs = session === undefined ? undefined : sessions.get(digest(session));
      return untilMs !== undefined && untilMs > clock.now();
    },
  };
}
