/**
 * Three organizations with a canary in everything. Most callers are in A, which shares location H with C. B shares location HB with A. `T`
 * is the parent of `L`, `S` and `H`; `K` is a child of `L`, `HK` of `H`.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { connect, type Link } from '@platform/rpc/client';
import type { CloudProcess } from '../start-cloud.ts';
import {
  buildDatasets,
  buildDeliveries,
  buildPackages,
  buildSavedQueries,
  buildSequences,
  fileTrigger,
  type Known,
  type KnownFile,
  type KnownSavedQuery,
  uploadFile,
} from './build-data.ts';
import { buildFragments, type KnownFragment } from './build-fragments.ts';
import { buildInvitations, buildKeys, type Invitation, type KnownKey } from './build-grants.ts';
import { Canaries } from './canaries.ts';
import { signIn } from './people.ts';
import { type Caller, organizationOf, type Person, type Place, Rules } from './rules.ts';
import type { Site } from './site.ts';

/** Original contents, which requests write back. */
export interface Contents {
  readonly metadata: string;
  /** The organization's support e-mail address, billing address and namespace. */
  readonly supportEmail: string;
  readonly billing: string;
  readonly namespace: string;
  /** The part's configuration. */
  readonly configuration: string;
  /** The id of a secret of a part or location. */
  readonly secretId: string;
}

export interface World {
  readonly cloud: CloudProcess;
  /** The owner of everything. */
  readonly admin: Link;
  readonly adminToken: string;
  readonly rules: Rules;
  readonly canaries: Canaries;
  readonly places: ReadonlyMap<string, Place>;
  readonly contents: ReadonlyMap<Place, Contents>;
  readonly fragments: ReadonlyMap<string, KnownFragment>;
  readonly keys: readonly KnownKey[];
  readonly savedQueries: readonly KnownSavedQuery[];
  readonly files: readonly KnownFile[];
  readonly sequences: readonly Known[];
  readonly datasets: readonly Known[];
  readonly deliveries: readonly Known[];
  readonly packages: readonly Known[];
  readonly invitations: readonly Invitation[];
  /** People who never do anything. */
  readonly bystanders: readonly Person[];
  readonly pushCredentials: string;
  place(label: string): Place;
}

/** label, parent, kind */
const layout: readonly (readonly [label: string, parent: string | undefined, kind: Place['kind']])[] = [
  ['A', undefined, 'organization'],
  ['B', undefined, 'organization'],
  ['C', undefined, 'organization'],
  ['T', 'A', 'location'],
  ['L', 'T', 'location'],
  ['K', 'L', 'location'],
  ['S', 'T', 'location'],
  ['H', 'T', 'location'],
  ['HK', 'H', 'location'],
  ['LB', 'B', 'location'],
  ['HB', 'B', 'location'],
  ['LC', 'C', 'location'],
  ...['T', 'L', 'K', 'S', 'HK', 'LB', 'HB', 'LC'].map((parent) => [`M.${parent}`, parent, 'machine'] as const),
  ['M2.L', 'L', 'machine'],
  ...['T', 'L', 'K', 'S', 'HK', 'LB', 'HB', 'LC'].map((parent) => [`P.${parent}`, `M.${parent}`, 'part'] as const),
  ['P.2', 'M2.L', 'part'],
];

export async function buildWorld(cloud: CloudProcess): Promise<World> {
  const credentials = { entity: cloud.keyId, type: 'api-key', payload: cloud.key };
  const admin = connect({ baseUrl: cloud.url, credentials });
  const adminToken = await signIn(cloud.url, credentials);
  const app = admin.client(AppService);
  const canaries = new Canaries();
  const places = new Map<string, Place>();
  const contents = new Map<Place, Contents>();
  const place = (label: string): Place => {
    const found = places.get(label);
    if (found === undefined) throw new Error(`expected a place ${label}`);
    return found;
  };
  const shares = [] as { location: Place; organization: Place }[];
  const rules = new Rules(shares);
  const holds = (role: 'owner' | 'operator', of: string) => (caller: Caller) => {
    const at = place(of);
    return (caller.part !== undefined && caller.part === at) || rules.holds(caller, role, at);
  };
  const sees = (of: string) => (caller: Caller) => {
    const at = place(of);
    // The part's own configuration and answers contain the machine, location and organization above it.
    if (caller.part !== undefined) return isAbove(at, caller.part);
    return rules.sees(caller, at);
  };
  const site: Site = { cloud, admin, app, canaries, rules, place, holds };

  for (const [label, parentLabel, kind] of layout) {
    const parent = parentLabel === undefined ? undefined : place(parentLabel);
    const name = kind === 'part' ? '' : canaries.make(`name of ${kind} ${label}`, sees(label));
    let id: string;
    if (kind === 'organization') id = (await app.createOrganization({ name })).organization?.id ?? '';
    else if (kind === 'location')
      id =
        (
          await app.createLocation({
            organizationId: organizationOf(parent as Place).id,
            name,
            ...(parent?.kind === 'location' && { parentLocationId: parent.id }),
          })
        ).location?.id ?? '';
    else if (kind === 'machine') id = (await app.newRobot({ name, location: parent?.id ?? '' })).id;
    else id = (await app.getRobotParts({ robotId: parent?.id ?? '' })).parts[0]?.id ?? '';
    const partName = kind === 'part' ? ((await app.getRobotPart({ id })).part?.name ?? '') : name;
    places.set(label, { kind, label, id, name: partName, ...(parent && { parent }) });
    // Part names derive from machine names; an organization learns the ids of those that share with it.
    if (kind !== 'organization') canaries.watch(id, `id of ${kind} ${label}`, sees(label));
  }
  for (const [location, organization] of [
    ['H', 'C'],
    ['HB', 'A'],
  ] as const) {
    await app.shareLocation({ locationId: place(location).id, organizationId: place(organization).id });
    shares.push({ location: place(location), organization: place(organization) });
  }

  const files: KnownFile[] = [];
  const pushCredentials = pushServiceAccount();
  for (const [label, at] of places) {
    const metadata = canaries.make(`metadata of ${label}`, holds('operator', label));
    const data = { canary: metadata };
    let filled: Contents = { metadata, supportEmail: '', billing: '', namespace: '', configuration: '', secretId: '' };
    if (at.kind === 'organization') {
      const supportEmail = `${canaries.make(`support e-mail of ${label}`, sees(label))}@example.com`;
      const billing = canaries.make(`billing address of ${label}`, holds('owner', label));
      // Public fragments show it to everyone.
      const namespace = `namespace-${label.toLowerCase()}`;
      await app.updateOrganizationMetadata({ organizationId: at.id, data });
      await app.organizationSetSupportEmail({ orgId: at.id, email: supportEmail });
      await app.enableBillingService({ orgId: at.id, billingAddress: addressOf(billing) });
      await app.updateOrganizationNamespace({ organizationId: at.id, newPublicNamespace: namespace });
      await app.organizationSetLogo({ orgId: at.id, logo: smallestPng });
      const { url } = await app.organizationGetLogo({ orgId: at.id });
      canaries.watch(url.split('/').at(-1) ?? '', `logo of ${label}`, sees(label));
      const appId = canaries.make(`push app of ${label}`, holds('owner', label));
      await app.setFirebaseConfig({ orgId: at.id, appId, configJson: pushCredentials });
      filled = { ...filled, supportEmail, billing, namespace };
    } else if (at.kind === 'location') {
      await app.updateLocationMetadata({ locationId: at.id, data });
      const { auth } = await app.locationAuth({ locationId: at.id });
      const secret = auth?.secrets[0];
      // Parts verify callers with the secrets of their location, and the owner of a machine could request these as a part.
      const owner = holds('owner', label);
      canaries.watch(secret?.secret ?? '', `secret of ${label}`, (caller, operation) => {
        const ownsMachine = caller.grants.some(({ role, on }) => role === 'owner' && on.parent === at);
        const inConfiguration = operation === 'RobotService.Config' && ownsMachine;
        return owner(caller) || caller.part?.parent?.parent === at || inConfiguration;
      });
      filled = { ...filled, secretId: secret?.id ?? '' };
    } else if (at.kind === 'machine') {
      await app.updateRobotMetadata({ id: at.id, data });
    } else {
      await app.updateRobotPartMetadata({ id: at.id, data });
      const attribute = canaries.make(`configuration of ${label}`, holds('operator', label));
      const configuration = {
        components: [{ name: 's', api: 'rdk:component:sensor', model: 'fake', attributes: { attribute } }],
        triggers: [fileTrigger(site, at)],
      };
      await app.updateRobotPart({ id: at.id, name: at.name, robotConfig: configuration });
      const { part } = await app.getRobotPart({ id: at.id });
      for (const { secret } of part?.secrets ?? []) canaries.watch(secret, `secret of ${label}`, holds('owner', label));
      const line = canaries.make(`log line of ${label}`, holds('operator', label));
      const time = timestampFromMs(Date.now());
      await admin.client(RobotService).log({
        id: at.id,
        logs: [{ host: 'h', level: 'info', time, loggerName: 'n', message: line }],
      });
      const reading = canaries.make(`reading of ${label}`, holds('operator', label));
      await admin.client(DataSyncService).dataCaptureUpload({
        metadata: {
          partId: at.id,
          componentType: 'rdk:component:sensor',
          componentName: 's',
          methodName: 'Readings',
          type: DataType.TABULAR_SENSOR,
        },
        sensorContents: [
          {
            metadata: { timeRequested: time, timeReceived: time },
            data: { case: 'struct', value: { readings: { canary: reading } } },
          },
        ],
      });
      files.push(await uploadFile(site, at));
      filled = { ...filled, configuration: JSON.stringify(configuration), secretId: part?.secrets[0]?.id ?? '' };
    }
    contents.set(at, filled);
  }

  const fragments = await buildFragments(site);
  const keys = await buildKeys(site);
  const savedQueries = await buildSavedQueries(site);
  const sequences = await buildSequences(site, files);
  const datasets = await buildDatasets(site, files);
  const deliveries = await buildDeliveries(site, files);
  const packages = await buildPackages(site);
  const invitations = await buildInvitations(site);
  return {
    cloud,
    admin,
    adminToken,
    rules,
    canaries,
    places,
    contents,
    fragments,
    keys,
    savedQueries,
    files,
    sequences,
    datasets,
    deliveries,
    packages,
    invitations,
    bystanders: [],
    pushCredentials,
    place,
  };
}

export function addressOf(line: string) {
  return { addressLine1: line, city: 'c', state: 's', zipcode: 'z', country: 'Germany' };
}

export const smallestPng: Uint8Array = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

function isAbove(above: Place, below: Place): boolean {
  return above === below || (below.parent !== undefined && isAbove(above, below.parent));
}

function pushServiceAccount(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return JSON.stringify({
    type: 'service_account',
    project_id: `p-${randomUUID()}`,
    client_email: 'push@example.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  });
}
