/** People who join by invitation, through the routes that a browser uses. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import type { Link } from '@platform/rpc/client';
import { type Grant, organizationOf } from './rules.ts';
import { authorizationOn } from './wire-roles.ts';

export interface NewPerson {
  readonly id: string;
  /** Token of a browser session. */
  readonly token: string;
}

interface Inviter {
  readonly url: string;
  readonly admin: Link;
  readonly adminToken: string;
}

export const password = 'a long enough password';

/** Invites the person once for each grant; the first invitation creates the account, the others use its password. */
export async function joinByInvitation(
  { url, admin, adminToken }: Inviter,
  person: { readonly email: string; readonly name: string; readonly grants: readonly Grant[] },
): Promise<NewPerson> {
  let token = '';
  for (const { on, role } of person.grants) {
    const organizationId = organizationOf(on).id;
    const authorizations = [authorizationOn(on, role)];
    const invitation = { organizationId, email: person.email, authorizations, sendEmailInvite: false };
    await admin.client(AppService).createOrganizationInvite(invitation);
    const answer = await fetch(`${url}/api/invitations/link`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ organizationId, email: person.email }),
    });
    token = await acceptInvitation(textOf(await answer.json(), 'link'), person.name);
  }
  const whoami = await fetch(`${url}/api/whoami`, { headers: { authorization: `Bearer ${token}` } });
  return { id: textOf(await whoami.json(), 'id'), token };
}

/** @returns the token of the session */
async function acceptInvitation(link: string, name: string): Promise<string> {
  const page = await fetch(link);
  const form = /name="form" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const token = new URL(link).searchParams.get('token') ?? '';
  const joined = await fetch(new URL('/invitations/accept', link), {
    method: 'POST',
    redirect: 'manual',
    headers: {
      cookie: cookiesOf(page).join('; '),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ form, token, name, password }),
  });
  const session = cookiesOf(joined)
    .map((cookie) => /^platform_session=(.+)$/.exec(cookie)?.[1])
    .find((value) => value !== undefined);
  if (session === undefined)
    throw new Error(`accepting an invitation: expected a session, found ${joined.status} ${await joined.text()}`);
  return session;
}

function cookiesOf(answer: Response): string[] {
  return answer.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0] ?? '');
}

function textOf(object: unknown, name: string): string {
  const value: unknown = typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
  if (typeof value !== 'string') throw new Error(`expected text under "${name}", found ${JSON.stringify(object)}`);
  return value;
}
