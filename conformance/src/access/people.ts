/** People who join by invitation, through the routes that a browser uses. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect, type Link } from '@platform/rpc/client';
import { type Grant, organizationOf } from './rules.ts';
import { authorizationOn } from './wire-roles.ts';

export interface NewPerson {
  readonly id: string;
  /** Both halves of a browser's session (D49), as one token. */
  readonly token: string;
  /** The same session, as a page of the cloud sends it. */
  readonly session: Readonly<Record<string, string>>;
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
  let session: Pick<NewPerson, 'token' | 'session'> = { token: '', session: {} };
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
    session = await acceptInvitation(textOf(await answer.json(), 'link'), person.name);
  }
  const whoami = await fetch(`${url}/api/whoami`, { headers: { authorization: `Bearer ${session.token}` } });
  return { id: textOf(await whoami.json(), 'id'), ...session };
}

async function acceptInvitation(link: string, name: string): Promise<Pick<NewPerson, 'token' | 'session'>> {
  const token = new URL(link).searchParams.get('token') ?? '';
  const joined = await fetch(new URL('/invitations/accept', link), {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: new URL(link).origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, name, password, begun: 'people' }),
  });
  const cookies = joined.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
  const cookie = cookies.find((pair) => /^[\w-]+_session=./.test(pair));
  const secret = /#session=([\w-]+)/.exec(joined.headers.get('location') ?? '')?.[1];
  if (cookie === undefined || secret === undefined)
    throw new Error(`accepting an invitation: expected a session, found ${joined.status} ${await joined.text()}`);
  return {
    token: `pt1.${cookie.replace(/^[^=]+=/, '')}.${secret}`,
    session: { cookie, origin: new URL(link).origin, 'platform-session': secret },
  };
}

function textOf(object: unknown, name: string): string {
  const value: unknown = typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
  if (typeof value !== 'string') throw new Error(`expected text under "${name}", found ${JSON.stringify(object)}`);
  return value;
}

/** Gets tokens as clients do. */
export async function signIn(
  url: string,
  { entity, type, payload }: { readonly entity: string; readonly type: string; readonly payload: string },
): Promise<string> {
  await using link = connect({ baseUrl: url });
  const answer = await link.client(AuthService).authenticate({ entity, credentials: { type, payload } });
  return answer.accessToken;
}
