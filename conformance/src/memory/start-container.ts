/** A cloud in a container of 512 MB, with one machine that may upload. */
import { readdirSync } from 'node:fs';
import { openCloud } from '@platform/sdk/cloud';
import { freePort, spawnChild, temporaryDirectory } from '@platform/testkit';
import { cloudCommand, cloudEnvironment } from '../cloud-command.ts';
import { limitMemory, watchMemory } from './limit-memory.ts';

export const containerBytes = 512 * 1024 ** 2;

/** @param env in addition to that of every cloud */
export async function startContainer(env: Readonly<Record<string, string>> = {}) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory('container-'));
  const limit = limitMemory(containerBytes);
  if (limit === undefined) throw new Error('expected to be allowed to limit the memory of a process (control groups)');
  stack.use(limit);
  const port = await freePort();
  const args = [...cloudCommand, '--data', directory.path, '--port', String(port)];
  const [command = '', ...words] = [...limit.prefix, process.execPath, ...args];
  const child = spawnChild(command, words, { env: { ...cloudEnvironment, PLATFORM_LOG_LEVEL: 'error', ...env } });
  stack.defer(async () => void (await child.kill('SIGTERM')));
  const ready = (await child.waitForLine(({ event }) => event === 'ready')) as Record<string, string>;
  const { url = '', keyId = '', key = '' } = ready;
  const client = stack.use(openCloud({ url, keyId, key, timeoutMs: 120_000 }));
  const memory = stack.use(watchMemory(child.pid, (pid) => (pid === child.pid ? 'cloud' : 'tabular')));

  const { app } = client;
  const organizationId = (await app.createOrganization({ name: 'Container' })).organization?.id ?? '';
  const location = (await app.createLocation({ organizationId, name: 'L' })).location?.id ?? '';
  const robotId = (await app.newRobot({ name: 'M', location })).id;
  const [part] = (await app.getRobotParts({ robotId })).parts;
  const tenant = { organizationId, partId: part?.id ?? '', partSecret: part?.secret ?? '' };
  const kept = stack.move();
  return {
    ...{ url, client, tenant, memory, pid: child.pid },
    /** Files in the store. */
    sealedFiles: () => readdirSync(directory.file('parquet')).filter((name) => name.endsWith('.parquet')).length,
    stderr: () => child.stderr,
    kills: () => limit.kills(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
