/** JSON routes for programs: the caller's identity and sessions, and the link of an invitation. */
import { permissionDenied } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import { endSession, type SignedInCaller } from '../../identity/account.ts';
import { showInvitationLink } from '../../identity/invitations/invitation-link.ts';
import { findPerson } from '../../identity/people.ts';
import { sendJson } from '../http.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { type RequestContext, readJson, requireCaller, textField } from './request-context.ts';

export function apiRoutes(deps: SignInDeps): Routes {
  const people = deps.identity.deps;

  const requirePerson = async (context: RequestContext): Promise<SignedInCaller> => {
    const { principal, peerAddress } = await requireCaller(deps, context.request);
    if (principal.kind === 'person') return { principal, peerAddress };
    throw permissionDenied(`sessions: expected a signed-in person, found a ${principal.kind}`);
  };

  return {
    async 'GET /api/whoami'(context) {
      const { principal } = await requireCaller(deps, context.request);
      // The address is for others: the caller may have used one that only works on this computer.
      sendJson(context.response, 200, { ...(await describe(principal)), cloudUrl: people.publicUrl() });
    },
    async 'GET /api/sessions'(context) {
      const { principal } = await requirePerson(context);
      const sessions = await people.sessions.list(principal.personId);
      sendJson(context.response, 200, {
        sessions: sessions.map((one) => ({ ...one, current: one.id === principal.sessionId })),
      });
    },
    async 'POST /api/sessions/end'(context) {
      const by = await requirePerson(context);
      await endSession(people, by, textField(await readJson(context.request), 'id'));
      sendJson(context.response, 200, {});
    },
    async 'POST /api/invitations/link'(context) {
      const by = await requireCaller(deps, context.request);
      const body = await readJson(context.request);
      const target = { organizationId: textField(body, 'organizationId'), email: textField(body, 'email') };
      sendJson(context.response, 200, await showInvitationLink(people, by, target));
    },
  };

  async function describe(principal: Principal): Promise<Record<string, unknown>> {
    if (principal.kind === 'part') return { kind: 'part', id: principal.partId, roles: [] };
    const roles = principal.grants.map((grant) => ({
      role: grant.role,
      organizationId: grant.organizationId,
      organizationName: people.tree.organization(grant.organizationId)?.name ?? '',
      ...(grant.locationId !== null && { locationId: grant.locationId }),
      ...(grant.robotId !== null && { machineId: grant.robotId }),
      ...(grant.shared && { shared: true }),
    }));
    if (principal.kind === 'key')
      return { kind: 'key', id: principal.keyId, ...(principal.keyName && { name: principal.keyName }), roles };
    const person = await findPerson(people.db, { id: principal.personId });
    const { personId, email, sessionId } = principal;
    return { kind: 'person', id: personId, email, name: person?.name ?? '', sessionId, roles };
  }
}
