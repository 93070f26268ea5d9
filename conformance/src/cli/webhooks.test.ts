/** `platform webhooks`: requests from a real cloud are received and checked, and changes are detected. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { startCloud } from '../start-cloud.ts';
import { openCommandLine } from './command-line.ts';

test('a webhook is received with a valid signature; a changed body, another secret and an old request are reported', async () => {
  await using cloud = await startCloud();
  const env = { PLATFORM_URL: cloud.url, PLATFORM_API_KEY_ID: cloud.keyId, PLATFORM_API_KEY: cloud.key };
  await using cli = await openCommandLine(env);
  await using owner = connect({
    baseUrl: cloud.url,
    credentials: { entity: cloud.keyId, type: 'api-key', payload: cloud.key },
  });
  const trigger = {
    name: 'synced',
    event: { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } },
    notifications: [{ type: 'webhook', value: `${cloud.url}/test-inbox/webhooks/oven` }],
  };
  const robotConfigJson = JSON.stringify({ triggers: [trigger] });
  await owner.client(AppService).updateRobotPart({ id: cloud.partId, name: 'main', robotConfigJson });

  const listening = cli.start(['webhooks', 'listen', 'oven', '--count', '1', '--json']);
  await listening.matching('stderr', /listening to/);
  await using machine = connect({
    baseUrl: cloud.url,
    credentials: { entity: cloud.partId, type: 'robot-secret', payload: cloud.partSecret },
  });
  await machine.client(DataSyncService).dataCaptureUpload({
    metadata: {
      ...{ partId: cloud.partId, componentType: 'core:component:sensor', componentName: 'a', methodName: 'Readings' },
      ...{ type: DataType.TABULAR_SENSOR, identity: { stream: randomBytes(16), seq: 1n, floor: 1n } },
    },
    sensorContents: [create(SensorDataSchema, { data: { case: 'struct', value: { readings: { n: 1 } } } })],
  });
  const { stdout } = await listening.ended;
  const caught = JSON.parse(stdout) as { signature: string; body: string; headers: { name: string; value: string }[] };
  expect(caught.signature).toBe('valid');

  const secrets = (
    await cli.ok(['organizations', 'webhook-secret', 'get', '--reveal', '--json'], { reveals: true })
  ).json<{ secret: string }[]>();
  writeFileSync(join(cli.directory, 'body.json'), caught.body);
  writeFileSync(join(cli.directory, 'changed.json'), caught.body.replace('"n":1', '"n":2'));
  writeFileSync(join(cli.directory, 'secret.txt'), secrets.map(({ secret }) => secret).join('\n'));
  writeFileSync(join(cli.directory, 'other.txt'), `whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  writeFileSync(
    join(cli.directory, 'headers.txt'),
    caught.headers.map(({ name, value }) => `${name}: ${value}\n`).join(''),
  );
  writeFileSync(join(cli.directory, 'listened.json'), stdout);
  writeFileSync(join(cli.directory, 'headers.json'), JSON.stringify(caught.headers));
  const verify = (body: string, secret: string, ...more: string[]) =>
    cli.run(['webhooks', 'verify', body, '--headers', 'headers.txt', '--secret-file', secret, ...more]);
  expect((await verify('body.json', 'secret.txt')).stdout).toMatch(/^the signature is valid/);
  for (const headers of ['listened.json', 'headers.json'])
    await cli.ok(['webhooks', 'verify', 'body.json', '--headers', headers, '--secret-file', 'secret.txt']);
  for (const [ran, problem] of [
    [await cli.run(['webhooks', 'verify', 'body.json', '--secret-file', 'secret.txt']), 'expected the headers'],
    [await cli.run(['webhooks', 'verify', 'body.json', '--headers', 'headers.txt']), 'webhook-secret get --reveal'],
    [await verify('changed.json', 'secret.txt'), 'wrong-signature'],
    [await verify('body.json', 'other.txt'), 'wrong-signature'],
    [await verify('body.json', 'secret.txt', '--at', '2036-01-01T00:00:00Z'), 'timestamp-too-old'],
  ] as const) {
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(problem);
  }
});
