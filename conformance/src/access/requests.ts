/** Requests for operations that need more than the subject's id. For operations on data, see data-requests.ts. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { packageMessages } from './build-data.ts';
import { type Builder, dataRequests, now } from './data-requests.ts';
import { organizationOf, type Subject } from './rules.ts';
import { authorizationOf } from './wire-roles.ts';
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

const priceList = JSON.stringify({
  currency: 'USD',
  tiers: [{ name: 'standard', in_arrears: true, per_machine: '1' }],
});

const nobodysOrganization = '00000000-0000-4000-8000-000000000001';

/** The subject of a request to TriggerService. */
function scopeOf({ id, saidKind }: Subject) {
  return { case: `${saidKind ?? 'part'}Id`, value: id };
}

/** The roles in a request about resources. */
function authorizationsFor(subject: Subject, role: 'owner' | 'operator' = 'operator') {
  if (subject.isKey || subject.saidKind === undefined) return [];
  return [authorizationOf(subject.saidKind, subject.id, subject.organizationId ?? '', role)];
}

function identified(subject: Subject, world: World, role: 'owner' | 'operator' = 'operator'): object | undefined {
  const [authorization] = authorizationsFor(subject, role);
  return { ...authorization, identityId: subject.second ?? world.keys[0]?.id ?? '', identityType: 'api-key' };
}

/** Signaling names the machine in a header. */
export function headersOf(operation: string, { id }: Subject): Record<string, string> {
  return operation.startsWith('SignalingService.')
    ? { 'rpc-host': `${id}.machines.internal`, 'heartbeats-allowed': 'true' }
    : {};
}

export const builders: Readonly<Record<string, Builder>> = {
  'AuthService.Authenticate': (_subject, { cloud }) => ({
    entity: cloud.keyId,
    credentials: { type: 'api-key', payload: cloud.key },
  }),
  'AppService.GetUserIDByEmail': ({ second = '' }) => ({ email: second }),
  'AppService.CreateOrganization': () => ({ name: 'made' }),
  'AppService.ListOrganizationsByUser': ({ id }) => ({ userId: id }),
  'AppService.SearchOrganizations': ({ id, second }) => ({
    ...(id !== '' && { orgId: id }),
    ...(second !== undefined && { orgName: second }),
  }),
  'AppService.GetOrganizationNamespaceAvailability': ({ id }) => ({ organizationId: id, publicNamespace: 'free' }),
  'AppService.UpdateOrganization': (subject) => ({ organizationId: subject.id, name: nameOf(subject) }),
  'AppService.UpdateOrganizationNamespace': (subject, world) => ({
    organizationId: subject.id,
    newPublicNamespace: contentsOf(subject, world).namespace,
  }),
  'AppService.UpdateOrganizationMetadata': (subject, world) => ({
    organizationId: subject.id,
    data: data(subject, world),
  }),
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
  'AppService.UpdateBillingService': (subject, world) => ({
    orgId: subject.id,
    billingAddress: addressOf(contentsOf(subject, world).billing),
  }),
  'AppService.OrganizationSetSupportEmail': (subject, world) => ({
    orgId: subject.id,
    email: contentsOf(subject, world).supportEmail,
  }),
  'AppService.OrganizationSetLogo': ({ id }) => ({ orgId: id, logo: smallestPng }),
  'AppService.CreateLocation': ({ id, organizationId }) => ({
    organizationId,
    name: 'made',
    ...(id !== '' && { parentLocationId: id }),
  }),
  'AppService.UpdateLocation': (subject) => ({ locationId: subject.id, name: nameOf(subject) }),
  'AppService.UpdateLocationMetadata': (subject, world) => ({ locationId: subject.id, data: data(subject, world) }),
  // Uses an unknown organization: it can be given access before it exists, and gives no access to any caller here.
  'AppService.ShareLocation': ({ id }) => ({ locationId: id, organizationId: nobodysOrganization }),
  'AppService.UnshareLocation': ({ id, second }) => ({ locationId: id, organizationId: second ?? nobodysOrganization }),
  'AppService.DeleteLocationSecret': (subject, world) => ({
    locationId: subject.id,
    secretId: subject.second ?? contentsOf(subject, world).secretId,
  }),
  'AppService.UpdateRobotMetadata': (subject, world) => ({ id: subject.id, data: data(subject, world) }),
  'AppService.GetRobotPartByNameAndLocation': ({ id, second }) => ({ locationId: id, name: second }),
  'AppService.UpdateRobotPart': (subject, world) => ({
    id: subject.id,
    name: nameOf(subject),
    robotConfig: JSON.parse(contentsOf(subject, world).configuration),
  }),
  'AppService.SetConfigProperty': ({ id }) => ({
    robotPartId: id,
    propertyChanges: [{ path: 'debug', value: { kind: { case: 'boolValue', value: false } } }],
  }),
  'AppService.NewRobotPart': ({ id }, _world, unique) => ({ robotId: id, partName: `made-${unique}` }),
  'AppService.UpdateRobotPartMetadata': (subject, world) => ({ id: subject.id, data: data(subject, world) }),
  'AppService.DeleteRobotPartSecret': (subject, world) => ({
    partId: subject.id,
    secretId: subject.second ?? contentsOf(subject, world).secretId,
  }),
  'AppService.ListRobotsForLocations': ({ id }) => ({ locationIds: id.split(',') }),
  'AppService.NewRobot': ({ id }, _world, unique) => ({ location: id, name: `made-${unique}` }),
  'AppService.UpdateRobot': (subject) => ({
    id: subject.id,
    name: nameOf(subject),
    location: subject.places?.[0]?.parent?.id ?? '',
  }),
  'AppService.ListFragments': ({ id }) => ({ organizationId: id, showPublic: true }),
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
  'AppService.CheckPermissions': (_subject, world) => ({
    permissions: [...world.places.values()]
      .filter(({ kind }) => kind !== 'part')
      .map(({ kind, id }) => ({
        resourceType: kind === 'machine' ? 'robot' : kind,
        resourceId: id,
        permissions: ['control_robot'],
      })),
  }),
  'AppService.CreateModule': ({ id }, _world, unique) => ({ organizationId: id, name: `made-${unique}` }),
  'AppService.UpdateModule': ({ id }) => ({ moduleId: id, entrypoint: 'run.sh' }),
  'AppService.GetModule': ({ id }) => ({ moduleId: id }),
  'AppService.UploadModuleFile': ({ id }, _world, unique) => [
    { moduleFile: { case: 'moduleFileInfo', value: { moduleId: id, version: `1.0.${unique}` } } },
    { moduleFile: { case: 'file', value: gzipSync('a module') } },
  ],
  'AppService.CreateKey': (subject, _world, unique) => ({
    name: `made-${unique}`,
    authorizations: authorizationsFor(subject),
  }),
  'AppService.RenameKey': ({ id, label }, world) => ({
    id,
    name: world.keys.find((key) => key.label === label)?.name ?? 'some name',
  }),
  'AppService.UploadDevicePushToken': (_subject, _world, _unique, { id }) => ({
    appId: 'some-app',
    deviceToken: `token-${id}`,
    deviceUuid: `device-${id}`,
  }),
  'AppService.DeleteDevicePushToken': ({ second }, _world, _unique, { id }) => ({
    appId: 'some-app',
    deviceUuid: second ?? `device-${id}`,
  }),
  'AppService.GetDevicePushTokens': () => ({ appId: 'some-app' }),
  'AppService.SetFirebaseConfig': ({ id }, { pushCredentials }) => ({
    orgId: id,
    appId: `app-${id}`,
    configJson: pushCredentials,
  }),
  'AppService.DeleteFirebaseConfig': ({ id, second }) => ({ orgId: id, appId: second ?? `app-${id}` }),
  'RobotService.Log': ({ id }) => ({
    id,
    logs: [{ host: 'h', level: 'info', time: now(), loggerName: 'n', message: 'a line' }],
  }),
  ...dataRequests,
  'PackageService.CreatePackage': ({ id }, _world, unique) =>
    packageMessages({ organizationId: id, name: `made-${unique}`, version: '1.0.0' }),
  'PackageService.GetPackage': ({ id }) => ({ id, version: '1.0.0', includeUrl: true }),
  'PackageService.DeletePackage': ({ id, second }) => ({ id, version: second ?? '1.0.0' }),
  'FleetService.CreateExpiringKey': (subject, _world, unique) => ({
    name: `made-${unique}`,
    authorizations: authorizationsFor(subject),
    expiresAt: timestampFromMs(Date.now() + 3_600_000),
  }),
  'FleetService.RestoreConfigurationVersion': ({ id }) => ({ partId: id, version: 1n }),
  'FleetService.ValidateConfiguration': ({ id }) => ({ partId: id, document: '{}' }),
  'FleetService.ReportPartStatus': ({ id }) => ({ partId: id, appliedRevision: 'r' }),
  'TriggerService.ListTriggers': (subject) => ({ scope: scopeOf(subject) }),
  'TriggerService.GetTriggerHistory': (subject) => ({ scope: scopeOf(subject) }),
  'TriggerService.DryRunTriggers': ({ id }) => ({ partId: id, start: timestampFromMs(Date.now() - 60_000) }),
  'TriggerService.ValidateTriggers': ({ id }) => ({ partId: id, triggers: [] }),
  'TriggerService.TestTrigger': ({ id }, { cloud }) => ({
    partId: id,
    trigger: {
      case: 'draft',
      value: {
        ...{ name: 'tested', event: { type: 'part_online' } },
        notifications: [{ type: 'webhook', value: `${cloud.url}/test-inbox/webhooks/tested` }],
      },
    },
  }),
  'TriggerService.ListDeliveries': (subject) => ({ scope: scopeOf(subject) }),
  'BillingService.UpdateOrganizationBillingTier': ({ id }) => ({ organizationId: id, billingTier: 'standard' }),
  'BillingService.UpdateLocationBillingOrganization': ({ id, places }) => ({
    locationId: id,
    billingOrganizationId: places?.[0] === undefined ? nobodysOrganization : organizationOf(places[0]).id,
  }),
  'BillingService.SendPaymentRequiredEmail': ({ id }) => ({
    billingOwnerOrgId: id,
    customerOrgId: nobodysOrganization,
  }),
  'BillingService.ChargeOrganization': ({ id }) => ({ orgIdToCharge: id, subtotal: 1 }),
  'BillingService.CreateInvoiceAndChargeImmediately': ({ id }) => ({ orgIdToCharge: id, amount: 1 }),
  'BillingService.GetInvoicePdf': ({ id }) => ({ orgId: id, id: '' }),
  'InvoiceService.CloseMonth': ({ id }) => ({ organizationId: id, month: '2020-01' }),
  'InvoiceService.VoidInvoice': ({ id }) => ({ organizationId: id, invoiceId: '', reason: '\u0007' }),
  'InvoiceService.BeginPaymentMethodSetup': ({ id }) => ({ organizationId: id }),
  'InvoiceService.AttachTestCard': ({ id }) => ({ organizationId: id, card: 1 }),
  'PriceService.SetPriceList': ({ id }) => ({ organizationId: id, document: priceList }),
  'TriggerService.ReplayDeliveries': (subject) => ({ scope: scopeOf(subject), start: now() }),
  'TriggerService.PauseTarget': ({ id }) => ({ organizationId: id, target: 'https://example.com/nobody' }),
  'SignalingService.Call': () => ({ sdp: 'offer' }),
  'SignalingService.CallUpdate': () => ({ uuid: 'u' }),
  // Nothing is sent: no message is valid before a caller has arrived.
  'SignalingService.Answer': () => [],
  'RelayService.OpenLink': ({ id }) => ({ partId: id }),
  // A ticket that nobody issued.
  'RelayService.CheckCallers': ({ id }) => ({ partId: id, tickets: [new Uint8Array(64)] }),
  'RelayService.ReportCalls': ({ id }) => ({
    partId: id,
    calls: [{ id: randomUUID(), caller: 'person:somebody', operation: 'MotorService.Stop', count: 1n }],
  }),
  'GapService.ListGaps': ({ id }) => ({ partId: id }),
  'SeriesService.ListSeries': ({ id }) => ({ organizationId: id }),
  'SeriesService.ListSeriesChoices': ({ id }) => ({ organizationId: id }),
  'GapService.ReportGaps': ({ id }) => ({
    partId: id,
    gaps: [
      {
        ...{ id: 'a', componentType: 'core:component:sensor', componentName: 's', methodName: 'Readings' },
        ...{ reason: GapReason.FAILED, start: now(), end: now(), readings: 1n },
      },
    ],
  }),
};
