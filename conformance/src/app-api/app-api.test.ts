/**
 * Every operation of AppService through the unmodified public package, or through @grpc/grpc-js where the package has no call, on one real
 * cloud. The files beside this one contain the groups of operations. The tests at the end compare the calls with the descriptors and need
 * all the others, so run this file as a whole.
 */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { createViamClient } from '@viamrobotics/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditTrailTests } from './audit-trail.ts';
import { fragmentTests } from './fragments.ts';
import { hostileNameTests } from './hostile-names.ts';
import { keyAndRoleTests } from './keys-and-roles.ts';
import { locationTests } from './locations.ts';
import { logTests } from './logs.ts';
import { machineTests } from './machines.ts';
import { moduleTests } from './modules.ts';
import { organizationTests } from './organizations.ts';
import { partTests } from './parts.ts';
import { peopleTests } from './people.ts';
import { pushTests } from './push.ts';
import { outOfScope, outOfScopeTests } from './unimplemented-rpcs.ts';
import { neverFilled } from './unset-fields.ts';
import { fieldsOfAnswers } from './watch.ts';
import { wireCompatibilityTests } from './wire-compatibility.ts';
import { openWorld, type World } from './world.ts';

let opened: World;
const world = (): World => opened;

beforeAll(async () => {
  opened = await openWorld();
});
afterAll(() => opened[Symbol.asyncDispose]());

describe('shapes', wireCompatibilityTests);
describe('organizations', () => organizationTests(world));
describe('people, members and invitations', () => peopleTests(world));
describe('locations', () => locationTests(world));
describe('machines', () => machineTests(world));
describe('parts and their configurations', () => partTests(world));
describe('machine logs', () => logTests(world));
describe('keys, roles and permissions', () => keyAndRoleTests(world));
describe('fragments', () => fragmentTests(world));
describe('modules', () => moduleTests(world));
describe('push', () => pushTests(world));
describe('hostile names', () => hostileNameTests(world));
describe('out of scope', () => outOfScopeTests(world));
describe('the audit trail', () => auditTrailTests(world));

describe('all of it', () => {
  const inScope = AppService.methods.map(({ name }) => name).filter((name) => !outOfScope.has(name));
  const packageHas = async (): Promise<(name: string) => boolean> => {
    const { appClient } = await createViamClient({
      serviceHost: world().cloud.url,
      credentials: { type: 'access-token', payload: world().ada.token },
    });
    return (name) => name.charAt(0).toLowerCase() + name.slice(1) in appClient;
  };

  test('every operation of the descriptors was both answered and refused, or is out of scope and answers UNIMPLEMENTED', () => {
    const { watch } = world();
    const unanswered = inScope.filter((name) => !watch.outcomes(name).has(0));
    const unrefused = inScope.filter((name) => [...watch.outcomes(name)].every((code) => code === 0));
    const answered = [...outOfScope].filter((name) => [...watch.outcomes(name)].join() !== '12');
    expect({ unanswered, unrefused, answered }).toEqual({ unanswered: [], unrefused: [], answered: [] });
  });

  test('every operation with a call in the public package was answered through it', async () => {
    const has = await packageHas();
    expect(inScope.filter((name) => has(name) && !world().watch.outcomes(name, 'sdk').has(0))).toEqual([]);
  });

  test('the public package lacks calls for exactly the listed operations', async () => {
    const has = await packageHas();
    expect(inScope.filter((name) => !has(name)).toSorted()).toEqual(withoutCall);
  });

  test('every field of the replies had a value at least once, except those listed with a reason', () => {
    const never = [...fieldsOfAnswers(inScope)].filter((field) => !world().watch.filled.has(field));
    expect(never.toSorted()).toEqual(Object.keys(neverFilled).toSorted());
  });
});

/** Called only through @grpc/grpc-js. */
const withoutCall: readonly string[] = [
  'AddFavoriteMachine',
  'DeleteDevicePushToken',
  'DeleteFirebaseConfig',
  'DeleteFragmentTag',
  'DisableBillingService',
  'EnableBillingService',
  'GetBillingServiceConfig',
  'GetDevicePushTokens',
  'GetFirebaseConfig',
  'GetFragmentHistory',
  'GetFragmentUsage',
  'ListFavoriteMachines',
  'ListNestedFragments',
  'ListRobotsForLocations',
  'ListRobotsForOrg',
  'OrganizationGetLogo',
  'OrganizationGetSupportEmail',
  'OrganizationSetLogo',
  'OrganizationSetSupportEmail',
  'RemoveFavoriteMachine',
  'RenameKey',
  'SearchOrganizations',
  'SetConfigProperty',
  'SetFirebaseConfig',
  'SetFragmentTag',
  'UpdateBillingService',
  'UpdateOrganizationNamespace',
  'UploadDevicePushToken',
  'UploadModuleFile',
];
