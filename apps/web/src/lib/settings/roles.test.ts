import { expect, test } from 'vitest';
import { authorizationOf, placeOf, roleOf, roleText } from './roles.ts';

const names = new Map([['m', 'press-7']]);

test('a role on each level is written as the API expects it, and read back', () => {
  for (const kind of ['organization', 'location', 'robot'] as const)
    for (const role of ['operator', 'owner'] as const) {
      const written = authorizationOf(role, { kind, id: 'm' }, 'acme');
      expect(written).toMatchObject({ authorizationId: `${kind}_${role}`, resourceType: kind, organizationId: 'acme' });
      expect([roleOf(written), placeOf(written)]).toEqual([role, { kind, id: 'm' }]);
    }
});

test('roles are described in words, with the name of their place', () => {
  expect(roleText(authorizationOf('owner', { kind: 'organization', id: 'acme' }, 'acme'), names)).toBe('owner');
  expect(roleText(authorizationOf('operator', { kind: 'robot', id: 'm' }, 'acme'), names)).toBe('operator of press-7');
  expect(roleText(authorizationOf('operator', { kind: 'location', id: 'x' }, 'acme'), names)).toBe(
    'operator of a deleted location',
  );
  // While the names are being loaded, nothing is called deleted.
  expect(roleText(authorizationOf('operator', { kind: 'robot', id: 'm' }, 'acme'), undefined)).toBe('operator of m');
});
