/** Prepares the target of a deleting operation: a separate thing in the same place, so that the world stays intact. */
import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataService, IndexableCollection } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { serialize } from 'bson';
import { createPackage } from './build-data.ts';
import { visibilities } from './build-fragments.ts';
import { appId as phoneAppId } from './callers.ts';
import { joinByInvitation } from './people.ts';
import { type Caller, organizationOf, type Place, type Subject } from './rules.ts';
import { authorizationOn } from './wire-roles.ts';
import type { World } from './world.ts';

export type Preparation = (world: World, caller: Caller, subject: Subject, unique: number) => Promise<Subject>;

const app = ({ admin }: World) => admin.client(AppService);
const placeOf = ({ label, places }: Subject): Place => {
  const [place] = places ?? [];
  if (place === undefined) throw new Error(`${label}: expected a place`);
  return place;
};

/** A key with a role on the place, and another role so that the key survives the loss of the first. */
async function keyWithTwoRoles(world: World, _caller: Caller, subject: Subject, unique: number): Promise<Subject> {
  const place = placeOf(subject);
  const spare = ['M.S', 'M2.L', 'M.LB', 'M.HB', 'M.LC', 'LC']
    .map(world.place)
    .find((one) => one !== place && organizationOf(one) === organizationOf(place));
  const { id } = await app(world).createKey({
    name: `prepared-${unique}`,
    authorizations: [place, ...(spare ? [spare] : [])].map((one) => authorizationOn(one, 'operator')),
  });
  return { ...subject, second: id };
}

async function anotherKey(world: World, _caller: Caller, subject: Subject, unique: number): Promise<Subject> {
  const grants = world.keys.find(({ id }) => id === subject.id)?.grants ?? [];
  const { id } = await app(world).createKey({
    name: `prepared-${unique}`,
    authorizations: grants.map(({ on, role }) => authorizationOn(on, role)),
  });
  return { ...subject, id };
}

async function anotherInvitation(world: World, subject: Subject, places: readonly Place[], unique: number) {
  const email = `prepared-${unique}@example.com`;
  await app(world).createOrganizationInvite({
    organizationId: subject.organizationId ?? '',
    email,
    authorizations: places.map((place) => authorizationOn(place, 'operator')),
    sendEmailInvite: false,
  });
  return email;
}

/** Deletes all secrets of parts and locations except the first, because their number is limited. */
export async function deleteMadeSecrets(world: World): Promise<void> {
  for (const place of world.places.values()) {
    if (place.kind === 'part') {
      const { part } = await app(world).getRobotPart({ id: place.id });
      for (const { id } of part?.secrets.slice(1) ?? [])
        await app(world).deleteRobotPartSecret({ partId: place.id, secretId: id });
    } else if (place.kind === 'location') {
      const { auth } = await app(world).locationAuth({ locationId: place.id });
      for (const { id } of auth?.secrets.slice(1) ?? [])
        await app(world).deleteLocationSecret({ locationId: place.id, secretId: id });
    }
  }
}

export const preparations: Readonly<Record<string, Preparation>> = {
  'AppService.DeleteOrganizationMember': async (world, _caller, subject, unique) => {
    const { cloud, admin, adminToken } = world;
    const { id } = await joinByInvitation(
      { url: cloud.url, admin, adminToken },
      { email: `leaving-${unique}@example.com`, name: 'leaving', grants: [{ role: 'operator', on: placeOf(subject) }] },
    );
    return { ...subject, second: id };
  },
  'AppService.DeleteOrganizationInvite': async (world, _caller, subject, unique) => ({
    ...subject,
    id: await anotherInvitation(
      world,
      subject,
      (subject.places ?? []).filter(({ kind }) => kind !== 'organization'),
      unique,
    ),
  }),
  'AppService.UpdateOrganizationInviteAuthorizations': async (world, _caller, subject, unique) => ({
    ...subject,
    second: await anotherInvitation(world, subject, subject.places ?? [], unique),
  }),
  'AppService.DeleteLocationSecret': async (world, _caller, subject) => {
    const { auth } = await app(world).createLocationSecret({ locationId: subject.id });
    return { ...subject, second: auth?.secrets.at(-1)?.id ?? '' };
  },
  'AppService.DeleteRobotPartSecret': async (world, _caller, subject) => {
    const { part } = await app(world).createRobotPartSecret({ partId: subject.id });
    return { ...subject, second: part?.secrets.at(-1)?.id ?? '' };
  },
  'AppService.DeleteRobotPart': async (world, _caller, subject, unique) => {
    const robotId = placeOf(subject).parent?.id ?? '';
    const { partId } = await app(world).newRobotPart({ robotId, partName: `prepared-${unique}` });
    return { ...subject, id: partId };
  },
  'AppService.DeleteRobot': async (world, caller, subject, unique) => {
    const place = placeOf(subject);
    const { id } = await app(world).newRobot({ name: `prepared-${unique}`, location: place.parent?.id ?? '' });
    const grant = caller.grants.find(({ on }) => on === place);
    if (grant !== undefined) {
      const authorization = { ...authorizationOn({ ...place, id }, grant.role), identityId: caller.id };
      const identityType = caller.kind === 'person' ? 'user' : 'api-key';
      await app(world).addRole({ authorization: { ...authorization, identityType } });
    }
    return { ...subject, id };
  },
  'AppService.DeleteFragment': async (world, _caller, subject, unique) => {
    const { fragment } = subject;
    if (fragment === undefined) throw new Error(`${subject.label}: expected a fragment`);
    const made = await app(world).createFragment({
      name: `prepared-${unique}`,
      organizationId: fragment.organization.id,
      config: {},
      visibility: visibilities[fragment.visibility],
    });
    return { ...subject, id: made.fragment?.id ?? '' };
  },
  'AppService.DeleteFragmentTag': async (world, _caller, subject, unique) => {
    const tag = `prepared-${unique}`;
    const revision = [...world.fragments.values()].find(({ id }) => id === subject.id)?.revision ?? '';
    await app(world).setFragmentTag({ fragmentId: subject.id, tag, revision });
    return { ...subject, second: tag };
  },
  'AppService.AddRole': async (world, _caller, subject, unique) => {
    const { id } = await app(world).createKey({
      name: `prepared-${unique}`,
      authorizations: [authorizationOn(placeOf(subject), 'owner')],
    });
    return { ...subject, second: id };
  },
  'AppService.ChangeRole': async (world, _caller, subject, unique) => {
    const { id } = await app(world).createKey({
      name: `prepared-${unique}`,
      authorizations: [authorizationOn(placeOf(subject), 'operator')],
    });
    return { ...subject, second: id };
  },
  'AppService.RemoveRole': keyWithTwoRoles,
  'AppService.UnshareLocation': async (world, _caller, subject) => {
    const second = randomUUID();
    await app(world).shareLocation({ locationId: subject.id, organizationId: second });
    return { ...subject, second };
  },
  'DataService.DeleteSavedQuery': async (world, _caller, subject, unique) => {
    const { id } = await world.admin.client(DataService).createSavedQuery({
      organizationId: subject.keptBy?.id ?? '',
      name: `prepared-${unique}`,
      mqlBinary: [serialize({ $match: {} })],
    });
    return { ...subject, id };
  },
  'DataService.DeleteIndex': async (world, _caller, subject, unique) => {
    await world.admin.client(DataService).createIndex({
      organizationId: subject.id,
      collectionType: IndexableCollection.HOT_STORE,
      indexSpec: [serialize({ keys: { [`prepared-${unique}`]: 1 } })],
    });
    return { ...subject, second: `prepared-${unique}_1` };
  },
  'DataService.DeleteBinaryDataByIDs': async (world, _caller, subject, unique) => {
    const { binaryDataId } = await world.admin.client(DataSyncService).dataCaptureUpload({
      metadata: {
        partId: subject.keptBy?.id ?? '',
        componentType: 'rdk:component:camera',
        componentName: 'c',
        methodName: 'GetImages',
        type: DataType.BINARY_SENSOR,
      },
      sensorContents: [{ data: { case: 'binary', value: new TextEncoder().encode(`prepared-${unique}`) } }],
    });
    return { ...subject, id: binaryDataId };
  },
  'DataService.RemoveBoundingBoxFromImageByID': async (world, _caller, subject) => {
    const box = { binaryDataId: subject.id, label: 'prepared', xMaxNormalized: 1, yMaxNormalized: 1 };
    const { bboxId } = await world.admin.client(DataService).addBoundingBoxToImageByID(box);
    return { ...subject, second: bboxId };
  },
  'DataService.DeleteSequence': async (world, _caller, subject) => {
    const { id } = await world.admin.client(DataService).createSequence({
      partId: subject.keptBy?.id ?? '',
      startTime: timestampFromMs(1_000),
      endTime: timestampFromMs(2_000),
    });
    return { ...subject, id };
  },
  'DatasetService.DeleteDataset': async (world, _caller, subject, unique) => {
    const { id } = await world.admin.client(DatasetService).createDataset({
      organizationId: subject.keptBy?.id ?? '',
      name: `prepared-${unique}`,
    });
    return { ...subject, id };
  },
  'PackageService.DeletePackage': async (world, _caller, subject, unique) => {
    const [organizationId = '', name = ''] = subject.id.split('/');
    const { version } = await createPackage(world.admin, { organizationId, name, version: `0.0.${unique}` });
    return { ...subject, second: version };
  },
  'AppService.DeleteKey': anotherKey,
  'AppService.RotateKey': anotherKey,
  'AppService.DeleteDevicePushToken': async ({ cloud }, { token }, subject, unique) => {
    await using link = connect({ baseUrl: cloud.url });
    const deviceUuid = `prepared-${unique}`;
    const headers = { authorization: `Bearer ${token}` };
    await link
      .client(AppService)
      .uploadDevicePushToken({ appId: phoneAppId, deviceToken: 'prepared', deviceUuid }, { headers });
    return { ...subject, second: deviceUuid };
  },
  'AppService.DeleteFirebaseConfig': async (world, _caller, subject, unique) => {
    const appId = `app-${unique}`;
    await app(world).setFirebaseConfig({ orgId: subject.id, appId, configJson: world.pushCredentials });
    return { ...subject, second: appId };
  },
};
