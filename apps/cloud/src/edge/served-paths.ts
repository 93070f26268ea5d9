/**
 * The paths that the port serves besides calls: a segment in braces stands for any text, `…` at the end for anything. A request for another
 * path reaches no route, so a route works only if its path is here. docs/specs/doors.md has a row for each, and says who reaches it.
 */
export const servedPaths = [
  '/',
  '/account',
  '/account/email',
  '/account/password',
  '/account/sessions/end',
  '/account/sign-out-everywhere',
  '/account/time-zone',
  '/api/invitations/link',
  '/api/json1/config',
  '/api/query',
  '/api/sessions',
  '/api/sessions/end',
  '/api/status',
  '/api/whoami',
  '/binary-data/…',
  '/connect/{token}',
  '/connect/{token}/{file}',
  '/favicon.ico',
  '/healthz',
  '/invitations/accept',
  '/logos/{id}',
  '/metrics',
  '/notifications/{id}',
  '/openapi.json',
  '/packages/…',
  '/sign-in',
  '/sign-in/cli',
  '/sign-in/cli/token',
  '/sign-in/done',
  '/sign-in/link',
  '/sign-in/oidc',
  '/sign-in/oidc/callback',
  '/sign-in/reset',
  '/sign-out',
  '/status',
  '/test-inbox/…',
  '/unsubscribe',
  '/uploads/{part}/{key}',
  '/webhooks/stripe',
  // The web UI.
  '/_app/…',
  '/o',
  '/o/…',
] as const;

const patterns = servedPaths.map((path) => {
  const escaped = path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${escaped.replace(/…$/, '.*')}$`);
});

/** @param path of a URL, without the query */
export function isServed(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path));
}
