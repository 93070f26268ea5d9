/**
 * The kinds of triggers about a machine apart from its readings, with a real cloud that is killed in between: each notifies once when it
 * begins to fire, not again while it is firing, and once when it has recovered.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { GapReason, GapService } from '@platform/proto/platform/gaps/v1/gaps';
import { connect, type Link } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner } from './cloud-under-load.ts';

const kinds = {
  capture_stopped: { after_secs: 3 },
  sync_behind: { after_secs: 30 },
  data_discarded: { clear_after_secs: 2 },
  config_not_applied: { after_secs: 1 },
  credential_expiring: { within_days: 2 },
} as const;
const dayMs = 86_400_000;

/** `<kind> <state> <subject>` of the webhooks of triggers that a target has accepted, in any order. */
function accepted(directory: string): string[] {
  const store = new DatabaseSync(join(directory, 'meta.sqlite'), { readOnly: true });
  try {
    const rows = store
      .prepare("select event from outbox_messages where trigger_name <> '' and state = 'delivered'")
      .all() as { event: string }[];
    return rows
      .map(({ event }) => JSON.parse(event))
      .map(({ type, change }) => `${type} ${change.to} ${type === 'credential_expiring' ? 'key' : change.subject}`)
      .sort();
  } finally {
    store.close();
  }
}

function uploader(link: Link, partId: string): (component: string, capturedMs: number) => Promise<void> {
  const stream = randomBytes(16);
  let seq = 0n;
  return async (component, capturedMs) => {
    const at = timestampFromMs(capturedMs);
    const identity = { stream, seq: ++seq, floor: seq };
    const type = DataType.TABULAR_SENSOR;
    await link.client(DataSyncService).dataCaptureUpload({
      metadata: {
        ...{ partId, componentType: 'core:component:sensor', componentName: component, methodName: 'Readings' },
        ...{ type, identity },
      },
      sensorContents: [
        create(SensorDataSchema, {
          metadata: { timeRequested: at, timeReceived: at },
          data: { case: 'struct', value: { readings: { n: 1 } } },
        }),
      ],
    });
  };
}

test('each kind of trigger notifies once about each change, across a kill of the cloud', async () => {
  await using cloud = await CloudUnderFire.start();
  const { partId, partSecret } = cloud.demo;
  await using owner = linkOfOwner(cloud);
  const [app, fleet] = [owner.client(AppService), owner.client(FleetService)];
  const sensor = {
    ...{ name: 'a', api: 'core:component:sensor', model: 'core:builtin:fake' },
    service_configs: [
      { type: 'data_manager', attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }] } },
    ],
  };
  const configuration = {
    components: [sensor],
    services: [
      {
        name: 'data',
        api: 'core:service:data_manager',
        model: 'core:builtin:builtin',
        attributes: { sync_interval_mins: 0.1 },
      },
    ],
    triggers: Object.entries(kinds).map(([type, own]) => ({
      name: type,
      event: { type, ...own },
      notifications: [{ type: 'webhook', value: `${cloud.url}/test-inbox/webhooks/own` }],
    })),
  };
  await app.updateRobotPart({ id: partId, name: 'main', robotConfigJson: JSON.stringify(configuration) });
  const { part } = await app.getRobotPart({ id: partId });
  const machineId = part?.robot ?? '';
  const organizationId = cloud.demo.organizationId;

  await using machine = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const upload = uploader(machine, partId);
  const lose = (id: string, readings: bigint) =>
    machine.client(GapService).reportGaps({
      partId,
      gaps: [
        {
          ...{ id, componentType: 'core:component:sensor', componentName: 'a', methodName: 'Readings', readings },
          ...{ reason: GapReason.DISCARDED, start: timestampFromMs(1_000), end: timestampFromMs(2_000) },
        },
      ],
    });
  const report = (appliedRevision: string) => fleet.reportPartStatus({ partId, appliedRevision });

  // Data lost before the first check of the trigger does not concern it.
  await report('another');
  await upload('a', Date.now());
  await upload('b', Date.now() - dayMs);
  const { id: keyId } = await fleet.createExpiringKey({
    name: 'of the machine',
    authorizations: [
      {
        organizationId,
        resourceType: 'robot',
        resourceId: machineId,
        authorizationId: 'robot_operator',
        authorizationType: 'role',
      },
    ],
    expiresAt: timestampFromMs(Date.now() + dayMs),
  });
  const firing = [
    'capture_stopped firing sensor:a:Readings',
    'config_not_applied firing ',
    'credential_expiring firing key',
    'sync_behind firing sensor:b:Readings',
  ];
  const poll = { interval: 250 };
  await expect.poll(() => accepted(cloud.directory), poll).toEqual(firing);
  await lose('gap-1', 5n);
  const allFiring = [...firing, 'data_discarded firing '].sort();
  await expect.poll(() => accepted(cloud.directory), poll).toEqual(expect.arrayContaining(allFiring));

  await cloud.kill();
  await cloud.start();
  // A lasting state is not notified again, even after a restart.
  await upload('b', Date.now() - dayMs);
  await report('yet another');
  const { saved } = await fleet.getPartStatus({ partId });
  await report(saved?.revision ?? '');
  await upload('a', Date.now());
  await upload('b', Date.now());
  await fleet.setKeyExpiry({ id: keyId });
  // Otherwise `capture_stopped` would fire again after three seconds without readings.
  const withCapture = async (): Promise<string[]> => {
    await upload('a', Date.now());
    return [...new Set(accepted(cloud.directory))];
  };
  const both = allFiring.flatMap((one) => [one, one.replace('firing', 'recovered')]).sort();
  await expect.poll(withCapture, poll).toEqual(expect.arrayContaining(both));
  expect(accepted(cloud.directory)).toEqual(both);
});
