/**
 * Requests that name something foreign beside something that the caller may see, or that have invalid content. Each is made with an id that
 * exists and with one that does not, and both must get the same answer.
 */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { serialize } from 'bson';
import { appId, phoneOf } from './callers.ts';
import { authorizationOf, authorizationOn } from './wire-roles.ts';
import type { World } from './world.ts';

export interface CrossTenantRequest {
  readonly operation: string;
  readonly about: string;
  readonly foreign: string;
  readonly unknown: string;
  readonly request: (id: string) => object;
}

/** Nothing in it is visible to callers without a role in B and C. */
export function crossTenantRequests(world: World): readonly CrossTenantRequest[] {
  const { place, fragments, keys, bystanders } = world;
  const a = place('A').id;
  const uuid = '7d9c2b1e-0000-4000-8000-5a5a5a5a5a5a';
  const machine = place('M.L');
  const part = place('P.L');
  const location = { foreign: place('LB').id, unknown: 'zzzzzzzzzz' };
  const organization = { foreign: place('C').id, unknown: uuid };
  const fragment = { foreign: fragments.get('F.B.private')?.id ?? '', unknown: uuid };
  const key = { foreign: keys.find(({ label }) => label === 'key LB')?.id ?? '', unknown: uuid };
  const foreignPerson = bystanders.find(({ memberOf }) => memberOf[0] === place('C'));
  const person = { foreign: foreignPerson?.id ?? '', unknown: uuid };
  const machineId = { foreign: place('M.LB').id, unknown: uuid };
  const partId = { foreign: place('P.LB').id, unknown: uuid };
  const savedQueryOf = (label: string) =>
    world.savedQueries.find(({ keptBy: { label: of } }) => of === label)?.name ?? '';
  const fileOf = (label: string): string => world.files.find(({ keptBy: { label: of } }) => of === label)?.id ?? '';
  const datasetOf = (label: string): string =>
    world.datasets.find(({ keptBy: { label: of } }) => of === label)?.id ?? '';
  const file = { foreign: fileOf('P.LB'), unknown: uuid };
  const dataset = { foreign: datasetOf('B'), unknown: uuid };
  const ownFile = fileOf('P.L');
  const readings = (filter: object) => ({ dataRequest: { filter } });
  const secretOf = (label: string): string => world.contents.get(place(label))?.secretId ?? '';
  const importing = (id: string) => ({ components: [], fragments: [id] });
  const role = authorizationOn(place('L'), 'operator');
  const foreignLocation = (id: string) => authorizationOf('location', id, a, 'operator');

  const scopeOf = (kind: string, value: string) => ({ case: `${kind}Id`, value });

  const beside: CrossTenantRequest[] = (
    [
      ['AppService.UpdateRobot', location, (id) => ({ id: machine.id, name: machine.name, location: id })],
      ['AppService.UpdateLocation', location, (id) => ({ locationId: place('K').id, parentLocationId: id })],
      ['AppService.AddRole', key, (id) => ({ authorization: { ...role, identityId: id, identityType: 'api-key' } })],
      ['AppService.AddRole', person, (id) => ({ authorization: { ...role, identityId: id, identityType: 'user' } })],
      ['AppService.RemoveRole', key, (id) => ({ authorization: { ...role, identityId: id, identityType: 'api-key' } })],
      ['AppService.RemoveRole', person, (id) => ({ authorization: { ...role, identityId: id, identityType: 'user' } })],
      ['AppService.CreateKey', location, (id) => ({ name: 'k', authorizations: [role, foreignLocation(id)] })],
      [
        'AppService.CreateOrganizationInvite',
        location,
        (id) => ({ organizationId: a, email: 'crossed@example.com', authorizations: [role, foreignLocation(id)] }),
      ],
      ['AppService.ListMachineFragments', fragment, (id) => ({ machineId: machine.id, additionalFragmentIds: [id] })],
      [
        'AppService.ListMachineFragments',
        fragment,
        (id) => ({ machineId: machine.id, additionalFragments: [{ fragmentId: id }] }),
      ],
      ['AppService.ListNestedFragments', fragment, (id) => ({ additionalFragments: [{ fragmentId: id }] })],
      [
        'FleetService.ValidateConfiguration',
        fragment,
        (id) => ({ partId: part.id, document: JSON.stringify(importing(id)) }),
      ],
      [
        'FleetService.ValidateConfiguration',
        organization,
        (id) => ({
          partId: part.id,
          document: JSON.stringify({ modules: [{ name: 'm', type: 'registry', module_id: `${id}:tool` }] }),
        }),
      ],
      [
        'FleetService.ValidateConfiguration',
        { foreign: 'namespace-c', unknown: 'namespace-z' },
        (name) => ({
          partId: part.id,
          document: JSON.stringify({ packages: [{ name: 'm', package: `${name}/tool`, type: 'module' }] }),
        }),
      ],
      ['PackageService.GetPackage', organization, (id) => ({ id: `${id}/tool`, version: 'latest' })],
      ['PackageService.GetPackage', { foreign: 'namespace-c', unknown: 'namespace-z' }, (id) => ({ id: `${id}/tool` })],
      [
        'AppService.GetModule',
        { foreign: 'namespace-c', unknown: 'namespace-z' },
        (id) => ({ moduleId: `${id}:tool` }),
      ],
      ['AppService.UpdateModule', organization, (id) => ({ moduleId: `${id}:tool`, entrypoint: 'run.sh' })],
      ['AppService.AddFavoriteMachine', machineId, (id) => ({ machineId: id })],
      ['AppService.UpdateRobotPart', fragment, (id) => ({ id: part.id, name: part.name, robotConfig: importing(id) })],
      ['AppService.CreateFragment', fragment, (id) => ({ organizationId: a, name: 'f', config: importing(id) })],
      [
        'AppService.UpdateOrganization',
        fragment,
        (id) => ({ organizationId: a, defaultFragments: { fragments: [{ fragmentId: id }] } }),
      ],
      ['AppService.ListMachineSummaries', location, (id) => ({ organizationId: a, locationIds: [id] })],
      ['AppService.ListMachineSummaries', fragment, (id) => ({ organizationId: a, fragmentIds: [id] })],
      ['AppService.ListAuthorizations', location, (id) => ({ organizationId: a, resourceIds: [id] })],
      ['AppService.ListRobotsForLocations', location, (id) => ({ locationIds: [place('L').id, id] })],
      [
        'AppService.GetFragment',
        organization,
        (id) => ({ id: fragments.get('F.A.public')?.id, currentOrganizationId: id }),
      ],
      ['AppService.ShareLocation', organization, (id) => ({ locationId: place('S').id, organizationId: id })],
      ['AppService.UnshareLocation', organization, (id) => ({ locationId: place('K').id, organizationId: id })],
      [
        'AppService.DeleteRobotPartSecret',
        { foreign: secretOf('P.LB'), unknown: uuid },
        (id) => ({ partId: part.id, secretId: id }),
      ],
      [
        'AppService.DeleteLocationSecret',
        { foreign: secretOf('LB'), unknown: uuid },
        (id) => ({ locationId: place('L').id, secretId: id }),
      ],
      [
        'AppService.DeleteDevicePushToken',
        { foreign: phoneOf(foreignPerson?.id ?? ''), unknown: phoneOf(uuid) },
        (deviceUuid) => ({ appId, deviceUuid }),
      ],
      ['AppService.DeleteOrganizationMember', person, (id) => ({ organizationId: a, userId: id })],
      ['AppService.SearchOrganizations', organization, (id) => ({ orgId: id })],
      [
        'AppService.SearchOrganizations',
        { foreign: place('C').name, unknown: 'zq-nobody' },
        (name) => ({ orgName: name }),
      ],
      [
        'AppService.SearchOrganizations',
        { foreign: 'namespace-c', unknown: 'namespace-z' },
        (name) => ({ publicNamespace: name }),
      ],
      [
        'AppService.GetRobotPartByNameAndLocation',
        { foreign: place('P.LB').name, unknown: 'nothing-of-this-name' },
        (name) => ({ name, locationId: place('L').id }),
      ],
      [
        'AppService.GetUserIDByEmail',
        { foreign: foreignPerson?.email ?? '', unknown: 'nobody-of-c@example.com' },
        (email) => ({ email }),
      ],
      ['DataService.TabularDataByFilter', organization, (id) => readings({ organizationIds: [id] })],
      ['DataService.TabularDataByFilter', location, (id) => readings({ locationIds: [id] })],
      ['DataService.TabularDataByFilter', partId, (id) => readings({ partId: id })],
      ['DataService.TabularDataByFilter', machineId, (id) => readings({ robotId: id })],
      [
        'DataService.TabularDataByFilter',
        { foreign: place('M.LB').name, unknown: 'nothing-of-this-name' },
        (robotName) => readings({ robotName }),
      ],
      ['DataService.BinaryDataByFilter', organization, (id) => readings({ organizationIds: [a, id] })],
      ['DataService.BinaryDataByFilter', location, (id) => readings({ locationIds: [place('L').id, id] })],
      ['DataService.BinaryDataByFilter', partId, (id) => readings({ partId: id })],
      ['DataService.BinaryDataByFilter', machineId, (id) => readings({ robotId: id })],
      ['DataService.BinaryDataByFilter', dataset, (id) => readings({ datasetId: id })],
      [
        'DataService.BinaryDataByFilter',
        { foreign: place('M.LB').name, unknown: 'nothing-of-this-name' },
        (robotName) => readings({ robotName }),
      ],
      ['DataService.BinaryDataByIDs', file, (id) => ({ binaryDataIds: [ownFile, id] })],
      [
        'DataService.BinaryDataByIDs',
        organization,
        (organizationId) => ({ binaryIds: [{ fileId: ownFile, organizationId, locationId: place('L').id }] }),
      ],
      ['DataService.TagsByFilter', location, (id) => ({ filter: { locationIds: [id] } })],
      ['DataService.DeleteBinaryDataByFilter', location, (id) => ({ filter: { locationIds: [id] } })],
      ['DataService.DeleteBinaryDataByFilter', partId, (id) => ({ filter: { organizationIds: [a], partId: id } })],
      ['DataService.AddTagsToBinaryDataByFilter', dataset, (id) => ({ filter: { datasetId: id }, tags: ['t'] })],
      ['DataService.AddBinaryDataToDatasetByIDs', file, (id) => ({ datasetId: datasetOf('A'), binaryDataIds: [id] })],
      ['DataService.AddBinaryDataToDatasetByIDs', dataset, (id) => ({ datasetId: id, binaryDataIds: [ownFile] })],
      ['DatasetService.ListDatasetsByIDs', dataset, (id) => ({ ids: [datasetOf('A'), id] })],
      [
        'DatasetService.MergeDatasets',
        dataset,
        (id) => ({ organizationId: a, name: 'merged', datasetIds: [datasetOf('A'), id] }),
      ],
      ['DataService.DeleteTabularData', location, (id) => ({ organizationId: a, filter: { locationIds: [id] } })],
      [
        'DataService.TabularDataByMQL',
        { foreign: savedQueryOf('B'), unknown: 'nothing-of-this-name' },
        (queryPrefixName) => ({ organizationId: a, queryPrefixName }),
      ],
      ...['robot', 'location', 'organization'].map((resourceType): Given => {
        const ids = { robot: { foreign: place('M.LB').id, unknown: uuid }, location, organization };
        return [
          'AppService.CheckPermissions',
          ids[resourceType as keyof typeof ids],
          (id) => ({
            permissions: [{ resourceType, resourceId: id, permissions: ['read_robot_logs', 'control_robot'] }],
          }),
        ];
      }),
    ] satisfies Given[]
  ).map((given) => crossTenantRequest('beside', given));

  const past = timestampFromMs(1);
  const wrong: CrossTenantRequest[] = (
    [
      ['AppService.UpdateRobot', machineId, (id) => ({ id, name: '', location: '' })],
      ['PackageService.DeletePackage', organization, (id) => ({ id: `${id}/tool`, version: '' })],
      ['AppService.NewRobot', location, (id) => ({ location: id, name: '' })],
      ['AppService.CreateLocation', organization, (id) => ({ organizationId: id, name: '' })],
      ['AppService.UpdateLocation', location, (id) => ({ locationId: id, name: '\u0007', parentLocationId: id })],
      ['AppService.UpdateRobotPart', partId, (id) => ({ id, name: '', robotConfig: { components: 5 } })],
      ['AppService.UpdateRobotPart', partId, (id) => ({ id, name: 'p', robotConfigJson: '{', lastKnownUpdate: past })],
      ['AppService.GetRobotPartLogs', partId, (id) => ({ id, pageToken: 'x', filter: '(', levels: ['y'], limit: -1n })],
      ['AppService.TailRobotPartLogs', partId, (id) => ({ id, filter: '(' })],
      ['AppService.GetRobotPartHistory', partId, (id) => ({ id, pageToken: 'x', pageLimit: -1n })],
      ['AppService.UpdateFragment', fragment, (id) => ({ id, name: '', lastKnownUpdate: past })],
      ['AppService.SetFragmentTag', fragment, (id) => ({ fragmentId: id, tag: '', revision: 'x' })],
      ['AppService.GetFragment', fragment, (id) => ({ id, version: 'x' })],
      ['AppService.RenameKey', key, (id) => ({ id, name: '' })],
      ['AppService.UpdateOrganization', organization, (id) => ({ organizationId: id, name: '' })],
      ['AppService.OrganizationSetLogo', organization, (id) => ({ orgId: id, logo: new Uint8Array() })],
      ['AppService.EnableBillingService', organization, (id) => ({ orgId: id })],
      ['BillingService.GetCurrentMonthUsage', organization, (id) => ({ orgId: id })],
      ['BillingService.GetInvoicePdf', organization, (id) => ({ orgId: id, id: '' })],
      ['BillingService.UpdateOrganizationBillingTier', organization, (id) => ({ organizationId: id, billingTier: '' })],
      ['BillingService.UpdateLocationBillingOrganization', location, (id) => ({ locationId: id })],
      ['BillingService.ChargeOrganization', organization, (id) => ({ orgIdToCharge: id, subtotal: -1 })],
      ['BillingService.CreateInvoiceAndChargeImmediately', organization, (id) => ({ orgIdToCharge: id, amount: 1 })],
      ['InvoiceService.VoidInvoice', organization, (id) => ({ organizationId: id, reason: '\u0007' })],
      ['InvoiceService.CloseMonth', organization, (id) => ({ organizationId: id, month: '' })],
      ['PriceService.SetPriceList', organization, (id) => ({ organizationId: id, document: '{' })],
      ['PriceService.SimulateInvoice', organization, (id) => ({ organizationId: id, month: 'x' })],
      ['AppService.SetFirebaseConfig', organization, (id) => ({ orgId: id, appId: '', configJson: '' })],
      ['AppService.CreateOrganizationInvite', organization, (id) => ({ organizationId: id, email: 'x' })],
      ['AppService.ListAuthorizations', organization, (id) => ({ organizationId: id, resourceIds: ['x'] })],
      ['FleetService.SetKeyExpiry', key, (id) => ({ id, expiresAt: past })],
      ['FleetService.ListAuditEntries', organization, (id) => ({ organizationId: id, pageToken: 'x' })],
      ['GapService.ListGaps', partId, (id) => ({ partId: id, pageToken: 'x' })],
      ['GapService.ListGaps', organization, (id) => ({ organizationId: id, pageToken: 'x' })],
      ['SeriesService.ListSeries', organization, (id) => ({ organizationId: id, pageSize: 999 })],
      ['TriggerService.ListTriggers', organization, (id) => ({ scope: scopeOf('organization', id), pageToken: 'x' })],
      ['TriggerService.ListTriggers', partId, (id) => ({ scope: scopeOf('part', id), pageToken: 'x' })],
      ['TriggerService.GetTriggerHistory', partId, (id) => ({ scope: scopeOf('part', id), pageToken: 'x' })],
      [
        'TriggerService.GetTriggerHistory',
        organization,
        (id) => ({ scope: scopeOf('organization', id), outcomes: [9] }),
      ],
      ['TriggerService.ReplayDeliveries', partId, (id) => ({ scope: scopeOf('part', id) })],
      ['TriggerService.PauseTarget', organization, (id) => ({ organizationId: id, reason: 'x'.repeat(999) })],
      ['TriggerService.ListDeliveries', location, (id) => ({ scope: scopeOf('location', id), channels: ['x'] })],
      ['TriggerService.ListDeliveries', machineId, (id) => ({ scope: scopeOf('machine', id), states: [99] })],
      ['GapService.ReportGaps', partId, (id) => ({ partId: id, gaps: [{}] })],
      ['FleetService.ListConfigurationVersions', partId, (id) => ({ partId: id, pageToken: 'x' })],
      ['FleetService.GetConfigurationVersion', partId, (id) => ({ partId: id, version: 999n })],
      ['FleetService.RestoreConfigurationVersion', partId, (id) => ({ partId: id, version: 999n, currentVersion: 5n })],
      ['FleetService.ValidateConfiguration', partId, (id) => ({ partId: id, document: '{' })],
      ['RobotService.Log', partId, (id) => ({ id, logs: [{}] })],
      ['DataSyncService.DataCaptureUpload', partId, (id) => ({ metadata: { partId: id, type: DataType.FILE } })],
      ['DataService.ExportTabularData', partId, (id) => ({ partId: id })],
      ['DataService.GetLatestTabularData', partId, (id) => ({ partId: id })],
      [
        'DataService.DeleteTabularData',
        organization,
        (id) => ({ organizationId: id, filter: { tagsFilter: { type: 9 } } }),
      ],
      [
        'DataService.BinaryDataByFilter',
        organization,
        (id) => ({ dataRequest: { last: 'x', filter: { organizationIds: [id] } } }),
      ],
      ['DataService.AddTagsToBinaryDataByIDs', file, (id) => ({ binaryDataIds: [id] })],
      ['DataService.AddBoundingBoxToImageByID', file, (id) => ({ binaryDataId: id, xMaxNormalized: 9 })],
      ['DataService.UpdateBoundingBox', file, (id) => ({ binaryDataId: id, bboxId: uuid, xMaxNormalized: 9 })],
      ['DataService.CreateBinaryDataSignedURL', file, (id) => ({ binaryDataId: id, expirationMinutes: 99_999 })],
      ['DatasetService.RenameDataset', dataset, (id) => ({ id, name: '' })],
      ['DatasetService.CreateDataset', organization, (id) => ({ organizationId: id, name: '', type: 7 })],
      ['DataService.CreateIndex', organization, (id) => ({ organizationId: id })],
      ['DataService.CreateSavedQuery', organization, (id) => ({ organizationId: id, name: '' })],
      [
        'DataService.UpdateSavedQuery',
        { foreign: world.savedQueries.find(({ name }) => name === savedQueryOf('B'))?.id ?? '', unknown: uuid },
        (id) => ({ id, name: '' }),
      ],
      ['DataService.TabularDataBySQL', organization, (id) => ({ organizationId: id, sqlQuery: 'SELEKT' })],
      [
        'DataService.TabularDataByMQL',
        organization,
        (id) => ({ organizationId: id, mqlBinary: [serialize({ $no: {} })], queryPrefixName: 'x' }),
      ],
    ] satisfies Given[]
  ).map((given) => crossTenantRequest('wrong content', given));
  return [...beside, ...wrong];
}

type Given = readonly [
  operation: string,
  ids: { readonly foreign: string; readonly unknown: string },
  request: (id: string) => object,
];

function crossTenantRequest(about: string, [operation, ids, request]: Given): CrossTenantRequest {
  return { operation, about, ...ids, request };
}
