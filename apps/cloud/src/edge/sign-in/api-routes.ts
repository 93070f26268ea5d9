/** What programs ask as JSON: who am I, my sessions, the link of an invitation. */
import { PlatformError } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import { endSession, type SignedInCaller } from '../../identity/account.ts';
import { showInvitationLink } from '../../identity/invitation-link.ts';
import { findPerson } from '../../identity/people.ts';
import { sendJson } from '../http.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { readJson, requireCaller, textField, type Visit } from './visit.ts';

export function apiRoutes(deps: SignInDeps): Routes {
  const people = deps.identity.deps;

  const requirePerson = async (visit: Visit): Promise<SignedInCaller> => {
    const { principal, peerAddress } = await requireCaller(deps, visit.request);
    if (principal.kind === 'person') return { principal, peerAddress };
    throw new PlatformError('permission_denied', `sessions: expected a signed-in person, found a ${principal.kind}`);
  };

  return {
    async 'GET /api/whoami'(visit) {
      const { principal } = await requireCaller(deps, visit.request);
      sendJson(visit.response, 200, await describe(principal));
    },
    async 'GET /api/sessions'(visit) {
      const { principal } = await requirePerson(visit);
      const sessions = await people.sessions.list(principal.personId);
      sendJson(visit.response, 200, {
        sessions: sessions.map((one) => ({ ...one, current: one.id === principal.sessionId })),
      });
    },
    async 'POST /api/sessions/end'(visit) {
      const by = await requirePerson(visit);
      await endSession(people, by, textField(await readJson(visit.request), 'id'));
      sendJson(visit.response, 200, {});
    },
    async 'POST /api/invitations/link'(visit) {
      const by = await requireCaller(deps, visit.request);
      const body = await readJson(visit.request);
      const target = { organizationId: textField(body, 'organizationId'), email: textField(body, 'email') };
      sendJson(visit.response, 200, await showInvitationLink(people, by, target));
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
