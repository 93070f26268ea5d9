import { expect, test } from 'vitest';
import { type Grant, holds, type Principal, scopeIn } from './principal.ts';

const key = (...grants: Grant[]): Principal => ({ kind: 'key', keyId: 'k', grants });
const children = (id: string): string[] => (id === 'plant' ? ['plant', 'hall'] : [id]);
const grant = (over: Partial<Grant>): Grant => ({
  role: 'operator',
  organizationId: 'o',
  locationId: null,
  robotId: null,
  ...over,
});

test('D26 a role on a location covers the machines below it and no sibling', () => {
  const principal = key(grant({ locationId: 'plant' }));
  expect(holds(principal, 'operator', { organizationId: 'o', locationIds: ['hall', 'plant'], robotId: 'r' })).toBe(
    true,
  );
  expect(holds(principal, 'operator', { organizationId: 'o', locationIds: ['office'], robotId: 'r' })).toBe(false);
  expect(holds(principal, 'owner', { organizationId: 'o', locationIds: ['hall', 'plant'], robotId: 'r' })).toBe(false);
});

test('D26 a role on a machine covers that machine alone', () => {
  const principal = key(grant({ role: 'owner', locationId: 'hall', robotId: 'r1' }));
  expect(holds(principal, 'owner', { organizationId: 'o', locationIds: ['hall'], robotId: 'r1' })).toBe(true);
  expect(holds(principal, 'operator', { organizationId: 'o', locationIds: ['hall'], robotId: 'r2' })).toBe(false);
  expect(holds(principal, 'operator', { organizationId: 'o', locationIds: ['hall'] })).toBe(false);
});

test('a part holds no role: its credentials are only for itself', () => {
  expect(holds({ kind: 'part', partId: 'p' }, 'operator', { organizationId: 'o', locationIds: [], robotId: 'r' })).toBe(
    false,
  );
});

test('D26 the query scope is either the whole organization, or the locations with their children and the machines of the grants', () => {
  expect(scopeIn(key(grant({})), 'o', children)).toEqual({ organizationId: 'o', locationIds: null, robotIds: null });
  const scope = scopeIn(
    key(grant({ locationId: 'plant' }), grant({ locationId: 'office', robotId: 'r9' })),
    'o',
    children,
  );
  expect(scope).toEqual({ organizationId: 'o', locationIds: ['plant', 'hall'], robotIds: ['r9'] });
});

test('an organization in which the caller has no role is treated as nonexistent', () => {
  expect(() => scopeIn(key(grant({})), 'foreign', children)).toThrow(
    /organization: expected the id of one that you may see/,
  );
});
