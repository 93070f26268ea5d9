import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Action, actions, type TargetKind } from './actions.ts';
import { type Access, createAccess } from './authorize.ts';
import type { Grant, Principal, Role } from './principal.ts';

/** Two organizations in memory. An id shows its place in the tree: location `a.0.1` is beneath `a.0`. */
interface World {
  readonly parentOf: ReadonlyMap<string, string | null>;
  readonly machines: ReadonlyMap<string, string>;
  readonly access: Access;
  readonly ids: Readonly<Record<TargetKind, readonly string[]>>;
}

const kinds: readonly TargetKind[] = ['organization', 'location', 'machine', 'part'];
const allActions = Object.keys(actions) as Action[];
const organizationOf = (id: string): string => id.slice(0, 1);

const worlds: fc.Arbitrary<World> = fc
  .array(fc.record({ inB: fc.boolean(), beneath: fc.nat(20) }), { minLength: 2, maxLength: 9 })
  .map((seeds) => {
    const parentOf = new Map<string, string | null>();
    for (const [index, { inB, beneath }] of seeds.entries()) {
      const organization = inB ? 'b' : 'a';
      const possible = [...parentOf.keys()].filter((id) => organizationOf(id) === organization);
      parentOf.set(`${organization}${index}`, [null, ...possible][beneath % (possible.length + 1)] ?? null);
    }
    const machines = new Map<string, string>(
      [...parentOf.keys()].flatMap((id) => [0, 1].map((n) => [`${id}m${n}`, id] as const)),
    );
    const ancestors = (id: string): string[] => {
      const parent = parentOf.get(id);
      return [id, ...(parent === null || parent === undefined ? [] : ancestors(parent))];
    };
    const access = createAccess(
      {
        organization: (id) => (id === 'a' || id === 'b' ? id : undefined),
        organizations: () => [{ id: 'a' }, { id: 'b' }],
        organizationOfLocation: (id) => (parentOf.has(id) ? organizationOf(id) : undefined),
        ancestors,
        descendants: (id) => [...parentOf.keys()].filter((other) => ancestors(other).includes(id)),
      },
      {
        locationOfMachine: (id) => machines.get(id),
        machineOfPart: (id) => (id.endsWith('p') && machines.has(id.slice(0, -1)) ? id.slice(0, -1) : undefined),
      },
    );
    const ids = {
      organization: ['a', 'b'],
      location: [...parentOf.keys()],
      machine: [...machines.keys()],
      part: [...machines.keys()].map((id) => `${id}p`),
    };
    return { parentOf, machines, access, ids };
  });

const grantIn = (world: World, role?: Role): fc.Arbitrary<Grant> =>
  fc
    .record({
      role: role === undefined ? fc.constantFrom<Role>('owner', 'operator') : fc.constant(role),
      target: fc.constantFrom(...world.ids.organization, ...world.ids.location, ...world.ids.machine),
    })
    .map(({ role, target }) => ({
      role,
      organizationId: organizationOf(target),
      locationId: world.parentOf.has(target) ? target : null,
      robotId: world.machines.has(target) ? target : null,
    }));

const worldWithGrants = worlds.chain((world) =>
  fc.record({ world: fc.constant(world), grants: fc.array(grantIn(world), { maxLength: 4 }), more: grantIn(world) }),
);
const key = (grants: readonly Grant[]): Principal => ({ kind: 'key', keyId: 'k', grants });

/** Every action on every possible target. */
function everything(world: World): readonly { action: Action; id: string }[] {
  return allActions.flatMap((action) => world.ids[actions[action].on].map((id) => ({ action, id })));
}

/** The ids at and above a target, computed in a different way from the code under test. */
function pathOf(world: World, id: string): ReadonlySet<string> {
  const machine = world.machines.has(id) ? id : id.replace(/p$/, '');
  const path = new Set([id, machine, organizationOf(id)]);
  for (
    let at: string | null | undefined = world.machines.get(machine) ?? id;
    typeof at === 'string';
    at = world.parentOf.get(at)
  )
    path.add(at);
  return path;
}
const targetOf = (grant: Grant): string => grant.robotId ?? grant.locationId ?? grant.organizationId;

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return 'ok';
  } catch (caught) {
    return caught instanceof Error && 'code' in caught ? String(caught.code) : String(caught);
  }
};

test('R1 a role covers exactly its target and everything beneath it; owner allows more than operator; siblings are not covered', () => {
  fc.assert(
    fc.property(worldWithGrants, ({ world, grants }) => {
      const principal = key(grants);
      for (const { action, id } of everything(world)) {
        const { needs } = actions[action];
        if (needs === 'sees' || needs === 'member') continue;
        const path = pathOf(world, id);
        const expected = grants.some(
          (grant) => path.has(targetOf(grant)) && (grant.role === 'owner' || needs === 'operator'),
        );
        expect([action, id, world.access.allows(principal, action, id)]).toEqual([action, id, expected]);
      }
    }),
    { numRuns: 150 },
  );
});

test('R1 an additional role never removes a right, and an owner may do everything an operator may', () => {
  fc.assert(
    fc.property(worldWithGrants, ({ world, grants, more }) => {
      const before = key(grants);
      const after = key([...grants, more]);
      const operator = key([{ ...more, role: 'operator' }]);
      const owner = key([{ ...more, role: 'owner' }]);
      for (const { action, id } of everything(world)) {
        if (world.access.allows(before, action, id)) expect(world.access.allows(after, action, id)).toBe(true);
        if (world.access.allows(operator, action, id)) expect(world.access.allows(owner, action, id)).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});

test('R2 a foreign id, an id of another kind and an unknown one are refused with exactly the same words', () => {
  fc.assert(
    fc.property(worldWithGrants, ({ world, grants }) => {
      const inA = key(grants.filter((grant) => grant.organizationId === 'a'));
      for (const action of allActions) {
        const { on } = actions[action];
        const foreign = world.ids[on].filter((id) => organizationOf(id) === 'b');
        const otherKind = kinds.filter((kind) => kind !== on).flatMap((kind) => world.ids[kind]);
        for (const id of [...foreign, ...otherKind, '', 'unknown']) {
          const refused = (): unknown => world.access.authorize(inA, action, id);
          expect([action, id, codeOf(refused)]).toEqual([action, id, 'not_found']);
          expect(refused).toThrow(
            `${on}: expected the id of one that you may see, found ${id === '' ? 'an empty id' : `"${id}"`}`,
          );
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('R2 R4 PERMISSION_DENIED is only returned for targets that the caller sees: it has a role on, above or beneath them', () => {
  fc.assert(
    fc.property(worldWithGrants, ({ world, grants }) => {
      const principal = key(grants);
      for (const { action, id } of everything(world)) {
        const code = codeOf(() => world.access.authorize(principal, action, id));
        const above = grants.some((grant) => pathOf(world, id).has(targetOf(grant)));
        const beneath =
          (actions[action].on === 'organization' || actions[action].on === 'location') &&
          grants.some((grant) => pathOf(world, targetOf(grant)).has(id));
        const allowed = world.access.allows(principal, action, id);
        const expected = allowed ? 'ok' : above || beneath ? 'permission_denied' : 'not_found';
        expect([action, id, code]).toEqual([action, id, expected]);
        if (actions[action].needs === 'sees') expect(allowed).toBe(above || beneath);
      }
    }),
    { numRuns: 150 },
  );
});

test('D26 a query reads exactly the machines on which the caller holds a role', () => {
  fc.assert(
    fc.property(worldWithGrants, ({ world, grants }) => {
      const principal = key(grants);
      for (const organizationId of ['a', 'b']) {
        if (!grants.some((grant) => grant.organizationId === organizationId)) {
          expect(codeOf(() => world.access.scopeIn(principal, organizationId))).toBe('not_found');
          continue;
        }
        const { locationIds, robotIds } = world.access.scopeIn(principal, organizationId);
        for (const [machineId, locationId] of world.machines) {
          if (organizationOf(machineId) !== organizationId) continue;
          const inScope =
            locationIds === null || locationIds.includes(locationId) || robotIds?.includes(machineId) === true;
          expect([machineId, inScope]).toEqual([machineId, world.access.allows(principal, 'machine.read', machineId)]);
        }
      }
    }),
    { numRuns: 150 },
  );
});

test('R20 packages are readable with any role in their organization except through sharing, and by its parts', () => {
  fc.assert(
    fc.property(worldWithGrants, ({ world, grants }) => {
      for (const id of world.ids.organization) {
        const isMember = grants.some(({ organizationId }) => organizationId === id);
        expect(world.access.allows(key(grants), 'package.read', id)).toBe(isMember);
        const guest = key(grants.map((grant) => ({ ...grant, shared: true as const })));
        expect(world.access.allows(guest, 'package.read', id)).toBe(false);
        for (const partId of world.ids.part)
          expect(world.access.allows({ kind: 'part', partId }, 'package.read', id)).toBe(organizationOf(partId) === id);
      }
    }),
    { numRuns: 30 },
  );
});

test("R14 a part's credentials work only for the part itself and for reading packages", () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const partId = world.ids.part[0] ?? '';
      const part: Principal = { kind: 'part', partId };
      for (const { action, id } of everything(world)) {
        if (action === 'package.read') continue;
        const expected = actions[action].on === 'part' && id === partId && actions[action].self === true;
        expect([action, id, world.access.allows(part, action, id)]).toEqual([action, id, expected]);
        if (id !== partId) expect(codeOf(() => world.access.authorize(part, action, id))).toBe('not_found');
      }
    }),
    { numRuns: 30 },
  );
});
