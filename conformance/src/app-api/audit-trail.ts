/**
 * Every operation that changes something leaves an entry in the audit trail. The descriptors determine which: all except those that only
 * read according to their names. So a new operation counts as a change until it is shown not to be one.
 */
import { join } from 'node:path';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { type Client, connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { openControlClient } from '../../../apps/cloud/src/admin/control-channel.ts';
import type { World } from './world.ts';

/** A machine reports its own state with `ReportPartStatus`, just like its readings; `LocationAuth` only returns data. */
const reads = /^(Get|List|Search|Check|Read|Tail|Validate|OrganizationGet|Report)|^LocationAuth$/;

const changing = ({ methods }: { readonly methods: readonly { readonly name: string }[] }): string[] =>
  methods.map(({ name }) => name).filter((name) => !reads.test(name));

interface Site {
  readonly fleet: Client<typeof FleetService>;
  readonly organizationId: string;
  readonly partId: string;
  keyId: string;
}

/** The changes of FleetService, which the public package does not contain, in the order in which they are made. */
const changes: Readonly<Record<string, (site: Site) => Promise<unknown>>> = {
  async CreateExpiringKey(site) {
    const authorization = {
      authorizationType: 'role',
      authorizationId: 'organization_operator',
      resourceType: 'organization',
      resourceId: site.organizationId,
      identityType: 'api-key',
      organizationId: site.organizationId,
    };
    const { id } = await site.fleet.createExpiringKey({ name: 'audited', authorizations: [authorization] });
    site.keyId = id;
  },
  SetKeyExpiry: ({ fleet, keyId }) => fleet.setKeyExpiry({ id: keyId }),
  RestoreConfigurationVersion: ({ fleet, partId }) => fleet.restoreConfigurationVersion({ partId, version: 1n }),
  ForceConfiguration: ({ fleet, partId }) => fleet.forceConfiguration({ partId }),
  CreateConnectToken: ({ fleet, partId }) => fleet.createConnectToken({ partId }),
  SetOrganizationTimeZone: ({ fleet, organizationId }) =>
    fleet.setOrganizationTimeZone({ organizationId, timeZone: 'Europe/Berlin' }),
  RotateWebhookSecret: ({ fleet, organizationId }) => fleet.rotateWebhookSecret({ organizationId }),
};

/** Needs all other tests, and runs after them. */
export function auditTrailTests(world: () => World): void {
  test('every change of FleetService is made here', () => {
    expect(Object.keys(changes).toSorted()).toEqual(changing(FleetService).toSorted());
  });

  test('every operation that changed something left an entry in the audit trail', async () => {
    const { cloud, watch } = world();
    const { url, organizationId, locationId } = cloud;
    await using link = connect({ baseUrl: url, credentials: credentialsOf('api-key', cloud.keyId, cloud.key) });
    const app = link.client(AppService);
    const { id } = await app.newRobot({ name: 'audited', location: locationId });
    const [main] = (await app.getRobotParts({ robotId: id })).parts;
    const { id: partId = '', secret = '' } = main ?? {};
    for (const debug of [true, false])
      await app.updateRobotPart({ id: partId, name: 'main', robotConfigJson: JSON.stringify({ debug }) });
    await using machine = connect({ baseUrl: url, credentials: credentialsOf('robot-secret', partId, secret) });
    await machine.client(FleetService).reportPartStatus({ partId, heldRevision: 'r', heldReason: 'at work' });
    const site: Site = { fleet: link.client(FleetService), organizationId, partId, keyId: '' };
    for (const change of Object.values(changes)) await change(site);

    const changed = [
      ...changing(AppService)
        .filter((name) => watch.outcomes(name).has(0))
        .map((name) => `AppService.${name}`),
      ...Object.keys(changes).map((name) => `FleetService.${name}`),
    ];
    expect(changed.length).toBeGreaterThan(50);
    const told = await actionsIn(cloud.dataDir);
    expect(changed.filter((action) => !told.has(action))).toEqual([]);
  });
}

const credentialsOf = (type: 'api-key' | 'robot-secret', entity: string, payload: string) => ({
  entity,
  type,
  payload,
});

/** As the host administrator reads it, including deleted organizations and changes that belong to no organization. */
async function actionsIn(dataDirectory: string): Promise<ReadonlySet<string>> {
  const control = await openControlClient(join(dataDirectory, 'control.sock'));
  if (control === undefined) throw new Error('the cloud does not answer the host administrator');
  await using _end = control;
  const actions = new Set<string>();
  for (let before: number | undefined; ; ) {
    const page = (await control.call('audit', { limit: 1_000, ...(before !== undefined && { before }) })) as {
      readonly id: number;
      readonly action: string;
    }[];
    for (const { action } of page) actions.add(action);
    before = page.at(-1)?.id;
    if (before === undefined) return actions;
  }
}
