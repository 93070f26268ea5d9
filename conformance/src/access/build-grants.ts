/** Keys and invitations with roles on each kind of place, and on several places. */

import type { MaySee } from './canaries.ts';
import type { Caller, Grant, Place } from './rules.ts';
import type { Site } from './site.ts';
import { authorizationOn } from './wire-roles.ts';

export interface KnownKey {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly grants: readonly Grant[];
}

export interface Invitation {
  readonly label: string;
  readonly organization: Place;
  readonly email: string;
  /** Empty: a role on the organization. */
  readonly grants: readonly Grant[];
}

export async function buildKeys({ app, canaries, rules, place }: Site): Promise<KnownKey[]> {
  const keyGrants: readonly (readonly [string, readonly (readonly ['owner' | 'operator', string])[]])[] = [
    ...['A', 'L', 'K', 'S', 'H', 'M.L', 'M.K', 'B', 'LB', 'HB', 'C', 'LC'].map(
      (on) => [`key ${on}`, [['operator', on]]] as const,
    ),
    [
      'key L+S',
      [
        ['owner', 'L'],
        ['operator', 'S'],
      ],
    ],
    [
      'key M.L+LB',
      [
        ['operator', 'M.L'],
        ['operator', 'LB'],
      ],
    ],
  ];
  const keys: KnownKey[] = [];
  for (const [label, given] of keyGrants) {
    const grants = given.map(([role, on]): Grant => ({ role, on: place(on) }));
    const managed = (caller: Caller): boolean => grants.some(({ on }) => rules.holds(caller, 'owner', on));
    const name = canaries.make(`name of ${label}`, managed);
    const { id, key } = await app.createKey({
      name,
      authorizations: grants.map(({ on, role }) => authorizationOn(on, role)),
    });
    const seen: MaySee = (caller, operation) =>
      managed(caller) || (operation === 'RobotService.Config' && accepts(caller, grants));
    canaries.watch(id, `id of ${label}`, seen);
    canaries.watch(key, `secret of ${label}`, seen);
    keys.push({ id, name, label, grants });
  }
  return keys;
}

/** R5: a part gets the keys of its machine and of the location around it, if they reach no further. */
function accepts({ part }: Caller, grants: readonly Grant[]): boolean {
  const machine = part?.parent;
  return machine !== undefined && grants.every(({ on }) => on === machine || on === machine.parent);
}

export async function buildInvitations({ app, canaries, rules, place }: Site): Promise<Invitation[]> {
  const invitations: Invitation[] = [];
  for (const [organization, ...on] of [
    ['A'],
    ['A', 'L'],
    ['A', 'M.L'],
    ['A', 'L', 'S'],
    ['B'],
    ['B', 'LB'],
    ['C', 'LC'],
  ] as const) {
    const label = `invitation ${[organization, ...on].join(' ')}`;
    const grants = on.map((one): Grant => ({ role: 'operator', on: place(one) }));
    const seen = (caller: Caller): boolean =>
      rules.holds(caller, 'operator', place(organization)) ||
      grants.some((grant) => rules.holds(caller, 'owner', grant.on));
    const email = `${canaries.make(label, seen)}@example.com`;
    await app.createOrganizationInvite({
      organizationId: place(organization).id,
      email,
      authorizations: grants.map((grant) => authorizationOn(grant.on, grant.role)),
      sendEmailInvite: false,
    });
    invitations.push({ label, organization: place(organization), email, grants });
  }
  return invitations;
}
