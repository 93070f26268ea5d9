/** What is sent for each operation about a subject, so that it would succeed if it were allowed; about data: data-requests.ts. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { dataRequests } from './data-requests.ts';
import { authorizationOf } from './on-wire.ts';
import {
  type Builder,
  byId,
  byLocationId,
  byOrganizationId,
  byOrgId,
  byPartId,
  byRobotId,
  empty,
  now,
} from './request-builder.ts';
import type { Subject } from './rules.ts';
import { addressOf, type Contents, smallestPng, type World } from './world.ts';

const nothing: Contents = {
  metadata: 'm',
  supportEmail: 'support@example.com',
  billing: 'street',
  namespace: 'some-namespace',
  configuration: '{}',
  secretId: '00000000-0000-4000-8000-000000000000',
};
const contentsOf = ({ places }: Subject, world: World): Contents =>
  (places?.[0] && world.contents.get(places[0])) ?? nothing;
const nameOf = ({ places }: Subject): string => places?.[0]?.name || 'some name';
const data = (subject: Subject, world: World): object => ({ canary: contentsOf(subject, world).metadata });
const fragmentConfig = { components: [] };

const nobodysOrganization = '00000000-0000-4000-8000-000000000001';

/** The roles that a request about resources names. */
function authorizationsFor(subject: Subject, role: 'owner' | 'operator' = 'operator') {
  if (subject.isKey || subject.saidKind === undefined) return [];
  return [authorizationOf(subject.saidKind, subject.id, subject.organizationId ?? '', role)];
}

function identified(subject: Subject, world: World, role: 'owner' | 'operator' = 'operator'): object | undefined {
  const [authorization] = authorizationsFor(subject, role);
  return { ...authorization, identityId: subject.second ?? world.keys[0]?.id ?? '', identityType: 'api-key' };
}

export const builders: Readonly<Record<string, Builder>> = {
  'AuthService.Authenticate': (_subject, { cloud }) => ({
    entity: cloud.keyId,
    credentials: { type: 'api-key', payload: cloud.key },
  }),
  'AppService.GetUserIDByEmail': ({ second = '' }) => ({ email: second }),
  'AppService.CreateOrganization': () => ({ name: 'made' }),
  'AppService.ListOrganizations': empty,
  'AppService.GetOrganizationsWithAccessToLocation': byLocationId,
  'AppService.ListOrganizationsByUser': ({ id }) => ({ userId: id }),
  'AppService.SearchOrganizations': ({ id, second }) => ({
    ...(id !== '' && { orgId: id }),
    ...(second !== undefined && { orgName: second }),
  }),
  'AppService.GetOrganization': byOrganizationId,
  'AppService.GetOrganizationNamespaceAvailability': ({ id }) => ({ organizationId: id, publicNamespace: 'free' }),
  'AppService.UpdateOrganization': (subject) => ({ organizationId: subject.id, name: nameOf(subject) }),
  'AppService.UpdateOrganizationNamespace': (subject, world) => ({
    organizationId: subject.id,
    newPublicNamespace: contentsOf(subject, world).namespace,
  }),
  'AppService.DeleteOrganization': byOrganizationId,
  'AppService.GetOrganizationMetadata': byOrganizationId,
  'AppService.UpdateOrganizationMetadata': (subject, world) => ({
    organizationId: subject.id,
    data: data(subject, world),
  }),
  'AppService.ListOrganizationMembers': byOrganizationId,
  'AppService.CreateOrganizationInvite': (subject, _world, unique) => ({
    organizationId: subject.organizationId,
    email: `invited-${unique}@example.com`,
    authorizations: authorizationsFor(subject),
    sendEmailInvite: false,
  }),
  'AppService.UpdateOrganizationInviteAuthorizations': (subject, world) => ({
    organizationId: subject.organizationId,
    email: subject.second ?? world.invitations[0]?.email,
    addAuthorizations: authorizationsFor(subject, 'owner'),
  }),
  'AppService.DeleteOrganizationMember': ({ id, places, second }, world) => ({
    organizationId: id,
    userId:
      second ?? world.bystanders.find(({ memberOf }) => memberOf[0] === places?.[0])?.id ?? world.bystanders[0]?.id,
  }),
  'AppService.DeleteOrganizationInvite': ({ id, organizationId }) => ({ organizationId, email: id }),
  'AppService.ResendOrganizationInvite': ({ id, organizationId }) => ({
    organizationId,
    email: id,
    sendEmailInvite: false,
  }),
  'AppService.EnableBillingService': (subject, world) => ({
    orgId: subject.id,
    billingAddress: addressOf(contentsOf(subject, world).billing),
  }),
  'AppService.DisableBillingService': byOrgId,
  'AppService.UpdateBillingService': (subject, world) => ({
    orgId: subject.id,
    billingAddress: addressOf(contentsOf(subject, world).billing),
  }),
  'AppService.GetBillingServiceConfig': byOrgId,
  'AppService.OrganizationSetSupportEmail': (subject, world) => ({
    orgId: subject.id,
    email: contentsOf(subject, world).supportEmail,
  }),
  'AppService.OrganizationGetSupportEmail': byOrgId,
  'AppService.OrganizationSetLogo': ({ id }) => ({ orgId: id, logo: smallestPng }),
  'AppService.OrganizationGetLogo': byOrgId,
  'AppService.EnableAuthService': empty,
  'AppService.DisableAuthService': empty,
  'AppService.CreateOAuthApp': empty,
  'AppService.ReadOAuthApp': empty,
  'AppService.UpdateOAuthApp': empty,
  'AppService.DeleteOAuthApp': empty,
  'AppService.ListOAuthApps': empty,
  'AppService.CreateOAuthAppUser': empty,
  'AppService.CreateLocation': ({ id, organizationId }) => ({
    organizationId,
    name: 'made',
    ...(id !== '' && { parentLocationId: id }),
  }),
  'AppService.GetLocation': byLocationId,
  'AppService.UpdateLocation': (subject) => ({ locationId: subject.id, name: nameOf(subject) }),
  'AppService.DeleteLocation': byLocationId,
  'AppService.GetLocationMetadata': byLocationId,
  'AppService.UpdateLocationMetadata': (subject, world) => ({ locationId: subject.id, data: data(subject, world) }),
  'AppService.ListLocations': byOrganizationId,
  // With an organization that nobody knows: it may be given access before it is there, and gives none to anybody here.
  'AppService.ShareLocation': ({ id }) => ({ locationId: id, organizationId: nobodysOrganization }),
  'AppService.UnshareLocation': ({ id, second }) => ({ locationId: id, organizationId: second ?? nobodysOrganization }),
  'AppService.LocationAuth': byLocationId,
  'AppService.CreateLocationSecret': byLocationId,
  'AppService.DeleteLocationSecret': (subject, world) => ({
    locationId: subject.id,
    secretId: subject.second ?? contentsOf(subject, world).secretId,
  }),
  'AppService.GetRobot': byId,
  'AppService.GetRobotMetadata': byId,
  'AppService.UpdateRobotMetadata': (subject, world) => ({ id: subject.id, data: data(subject, world) }),
  'AppService.GetRoverRentalRobots': empty,
  'AppService.GetRobotParts': byRobotId,
  'AppService.GetRobotPart': byId,
  'AppService.GetRobotPartByNameAndLocation': ({ id, second }) => ({ locationId: id, name: second }),
  'AppService.GetRobotPartLogs': byId,
  'AppService.TailRobotPartLogs': byId,
  'AppService.GetRobotPartHistory': byId,
  'AppService.UpdateRobotPart': (subject, world) => ({
    id: subject.id,
    name: nameOf(subject),
    robotConfig: JSON.parse(contentsOf(subject, world).configuration),
  }),
  'AppService.NewRobotPart': ({ id }, _world, unique) => ({ robotId: id, partName: `made-${unique}` }),
  'AppService.DeleteRobotPart': byPartId,
  'AppService.GetRobotPartMetadata': byId,
  'AppService.UpdateRobotPartMetadata': (subject, world) => ({ id: subject.id, data: data(subject, world) }),
  'AppService.GetRobotAPIKeys': byRobotId,
  'AppService.MarkPartAsMain': byPartId,
  'AppService.MarkPartForRestart': byPartId,
  'AppService.CreateRobotPartSecret': byPartId,
  'AppService.DeleteRobotPartSecret': (subject, world) => ({
    partId: subject.id,
    secretId: subject.second ?? contentsOf(subject, world).secretId,
  }),
  'AppService.ListRobots': byLocationId,
  'AppService.ListRobotsForLocations': ({ id }) => ({ locationIds: id.split(',') }),
  'AppService.ListRobotsForOrg': byOrgId,
  'AppService.NewRobot': ({ id }, _world, unique) => ({ location: id, name: `made-${unique}` }),
  'AppService.UpdateRobot': (subject) => ({
    id: subject.id,
    name: nameOf(subject),
    location: subject.places?.[0]?.parent?.id ?? '',
  }),
  'AppService.DeleteRobot': byId,
  'AppService.ListFragments': ({ id }) => ({ organizationId: id, showPublic: true }),
  'AppService.GetFragment': byId,
  'AppService.CreateFragment': ({ id }, _world, unique) => ({
    organizationId: id,
    name: `made-${unique}`,
    config: fragmentConfig,
  }),
  'AppService.UpdateFragment': ({ id, fragment }, world) => ({
    id,
    name: [...world.fragments.values()].find((one) => one.id === fragment?.id)?.name ?? 'some name',
    config: fragmentConfig,
  }),
  'AppService.DeleteFragment': byId,
  'AppService.ListNestedFragments': ({ id }) => ({ fragmentId: id }),
  'AppService.ListMachineFragments': ({ id }) => ({ machineId: id }),
  'AppService.ListMachineSummaries': byOrganizationId,
  'AppService.GetFragmentHistory': byId,
  'AppService.GetFragmentUsage': ({ id }) => ({ fragmentId: id }),
  'AppService.SetFragmentTag': ({ id, fragment, second }, world) => ({
    fragmentId: id,
    tag: second ?? 'tag',
    revision: [...world.fragments.values()].find((one) => one.id === fragment?.id)?.revision ?? '1',
  }),
  'AppService.DeleteFragmentTag': ({ id, second }) => ({ fragmentId: id, tag: second ?? 'tag' }),
  'AppService.AddRole': (subject, world) => ({ authorization: identified(subject, world) }),
  'AppService.RemoveRole': (subject, world) => ({ authorization: identified(subject, world) }),
  'AppService.ChangeRole': (subject, world) => ({
    oldAuthorization: identified(subject, world),
    newAuthorization: identified(subject, world, 'owner'),
  }),
  'AppService.ListAuthorizations': byOrganizationId,
  'AppService.CheckPermissions': (_subject, world) => ({
    permissions: [...world.places.values()]
      .filter(({ kind }) => kind !== 'part')
      .map(({ kind, id }) => ({
        resourceType: kind === 'machine' ? 'robot' : kind,
        resourceId: id,
        permissions: ['control_robot'],
      })),
  }),
  'AppService.GetRegistryItem': empty,
  'AppService.CreateRegistryItem': empty,
  'AppService.UpdateRegistryItem': empty,
  'AppService.ListRegistryItems': empty,
  'AppService.DeleteRegistryItem': empty,
  'AppService.RenameRegistryItem': empty,
  'AppService.TransferRegistryItem': empty,
  'AppService.DeprecateRegistryItem': empty,
  'AppService.UndeprecateRegistryItem': empty,
  'AppService.CreateModule': empty,
  'AppService.UpdateModule': empty,
  'AppService.UploadModuleFile': () => [{ moduleFile: { case: 'moduleFileInfo', value: { moduleId: 'm' } } }],
  'AppService.GetModule': empty,
  'AppService.ListModules': empty,
  'AppService.DeprecateRegistryItemVersion': empty,
  'AppService.UndeprecateRegistryItemVersion': empty,
  'AppService.CreateKey': (subject, _world, unique) => ({
    name: `made-${unique}`,
    authorizations: authorizationsFor(subject),
  }),
  'AppService.DeleteKey': byId,
  'AppService.ListKeys': byOrgId,
  'AppService.RenameKey': ({ id, label }, world) => ({
    id,
    name: world.keys.find((key) => key.label === label)?.name ?? 'some name',
  }),
  'AppService.RotateKey': byId,
  'AppService.CreateKeyFromExistingKeyAuthorizations': byId,
  'AppService.GetAppContent': empty,
  'AppService.GetAppBranding': empty,
  'AppService.UploadDevicePushToken': (_subject, _world, _unique, { id }) => ({
    appId: 'some-app',
    deviceToken: `token-${id}`,
    deviceUuid: `device-${id}`,
  }),
  'AppService.DeleteDevicePushToken': (_subject, _world, _unique, { id }) => ({
    appId: 'some-app',
    deviceUuid: `device-${id}`,
  }),
  'AppService.GetDevicePushTokens': () => ({ appId: 'some-app' }),
  'AppService.SetFirebaseConfig': ({ id }, { pushCredentials }) => ({
    orgId: id,
    appId: `app-${id}`,
    configJson: pushCredentials,
  }),
  'AppService.GetFirebaseConfig': byOrgId,
  'AppService.DeleteFirebaseConfig': ({ id, second }) => ({ orgId: id, appId: second ?? `app-${id}` }),
  'RobotService.Config': byId,
  'RobotService.Certificate': byId,
  'RobotService.Log': ({ id }) => ({
    id,
    logs: [{ host: 'h', level: 'info', time: now(), loggerName: 'n', message: 'a line' }],
  }),
  'RobotService.NeedsRestart': byId,
  ...dataRequests,
  'FleetService.CreateExpiringKey': (subject, _world, unique) => ({
    name: `made-${unique}`,
    authorizations: authorizationsFor(subject),
    expiresAt: timestampFromMs(Date.now() + 3_600_000),
  }),
  'FleetService.SetKeyExpiry': byId,
  'FleetService.ListKeyDetails': byOrganizationId,
  'FleetService.ListConfigurationVersions': byPartId,
  'FleetService.GetConfigurationVersion': byPartId,
  'FleetService.RestoreConfigurationVersion': ({ id }) => ({ partId: id, version: 1n }),
  'FleetService.ValidateConfiguration': ({ id }) => ({ partId: id, document: '{}' }),
  'FleetService.GetPartStatus': byPartId,
  'FleetService.ReportPartStatus': ({ id }) => ({ partId: id, appliedRevision: 'r' }),
  'FleetService.ForceConfiguration': byPartId,
  'FleetService.ListAuditEntries': byOrganizationId,
};
