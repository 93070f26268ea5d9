/** A real machine-server with a closed maintenance window, a real cloud, and an owner who forces one configuration on the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@platform/base';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { program } from '../../tools/bundles/program.ts';
import { openCommandLine } from './cli/command-line.ts';
import { startCloud } from './start-cloud.ts';

const machineServer = program('machine-server');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

/** A machine whose gate never allows maintenance; `more` distinguishes its versions. */
const machine = (more: object): string =>
  JSON.stringify({
    components: [
      {
        name: 'gate',
        api: 'core:component:sensor',
        model: 'core:builtin:fake',
        attributes: { readings: { allowed: false } },
      },
    ],
    maintenance: { sensor_name: 'core:component:sensor/gate', maintenance_allowed_key: 'allowed' },
    ...more,
  });

interface Status {
  readonly saved_revision: string;
  readonly applied_revision: string | null;
  readonly held_revision: string | null;
  readonly held_reason: string | null;
}

test('D9 a held configuration runs once an owner forces it, and the next one waits again', async () => {
  await using cloud = await startCloud();
  await using cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  await using home = await temporaryDirectory('forced-');
  const credentials = join(home.path, 'credentials.json');
  const { partId: id, partSecret: secret, url } = cloud;
  writeFileSync(credentials, JSON.stringify({ cloud: { id, secret, app_address: url, refresh_interval: '200ms' } }));
  const save = async (more: object): Promise<void> => {
    await cli.ok(['config', 'set', id, '-', '--yes'], { input: machine(more) });
  };
  const part = ['machines', 'part'];
  const statusWhen = async (holds: (status: Status) => boolean): Promise<Status> => {
    for (;;) {
      const status = (await cli.ok([...part, 'status', id, '--json'])).json<Status>();
      if (holds(status)) return status;
      await systemClock.sleep(100);
    }
  };

  await save({});
  const args = [...nodeFlags, machineServer, '-config', credentials];
  const server = spawnChild(process.execPath, args, { env: { PLATFORM_HOME: home.path } });
  await using _end = { [Symbol.asyncDispose]: async () => void (await server.kill('SIGTERM')) };
  const first = await statusWhen((one) => one.applied_revision === one.saved_revision);
  const early = await cli.run([...part, 'force', id, '--yes']);
  expect(early.code).not.toBe(0);
  expect(early.stderr).toContain('nothing is held back');

  await save({ debug: true });
  const held = await statusWhen((one) => one.held_revision === one.saved_revision);
  expect(held).toMatchObject({
    applied_revision: first.applied_revision,
    held_reason: 'expected true under "allowed" of core:component:sensor/gate, found false',
  });
  const unasked = await cli.run([...part, 'force', id]);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('found false')]);
  await cli.ok([...part, 'force', id, '--yes']);
  const forced = await statusWhen((one) => one.applied_revision === held.held_revision);
  expect([forced.held_revision, forced.held_reason]).toEqual([null, null]);

  await save({ debug: false, disable_log_deduplication: true });
  const again = await statusWhen((one) => one.held_revision === one.saved_revision);
  expect(again.applied_revision).toBe(held.held_revision);
}, 600_000);
