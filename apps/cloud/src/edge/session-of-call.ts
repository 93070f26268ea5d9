/**
 * The session of a browser as the credential of a call. Calls from pages of any origin are answered (CORS), so a cookie is accepted only
 * from a page of this cloud: browsers attach `origin` to every POST, and no page can set it.
 */
import { sessionCookie } from './sign-in/request-context.ts';

/** The token of the session; undefined if there is none, or if another origin sent the call. */
export function sessionOfCall(metadata: Headers): string | undefined {
  const origin = metadata.get('origin');
  if (origin === null || URL.parse(origin)?.host !== metadata.get('host')) return undefined;
  const site = metadata.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') return undefined;
  return new RegExp(`(?:^|; ?)${sessionCookie}=([\\w.-]+)`).exec(metadata.get('cookie') ?? '')?.[1];
}
