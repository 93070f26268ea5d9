import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ChildProcess, spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';

const main = program('cloud');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

type Json = Readonly<Record<string, unknown>>;

function start(data: string): ChildProcess {
  return spawnChild(process.execPath, [...nodeFlags, main, '--data', data, '--port', '0', '--json'], {
    env: { PLATFORM_LOG_LEVEL: 'warn' },
  });
}

const readyOf = (cloud: ChildProcess): Promise<Json> => cloud.waitForLine((line) => line['event'] === 'ready');

/** A call in JSON, as any program could make it. */
async function call(url: unknown, path: string, body: Json, token = ''): Promise<Json> {
  const answer = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

test('the cloud restarts at another port after its demo was deleted: machine, location and organization', async () => {
  await using directory = await temporaryDirectory('deleted-demo-');
  let cloud = start(directory.path);
  await using _ = {
    async [Symbol.asyncDispose]() {
      await cloud.kill('SIGTERM');
    },
  };
  const { url, keyId, key, organizationId, locationId, machineId } = await readyOf(cloud);
  const credentials = { entity: keyId, credentials: { type: 'api-key', payload: key } };
  const { accessToken } = await call(url, 'proto.rpc.v1.AuthService/Authenticate', credentials);
  const remove = (method: string, body: Json) =>
    call(url, `platform.app.v1.AppService/${method}`, body, String(accessToken));
  const restarted = async (): Promise<Json> => {
    await cloud.kill('SIGTERM');
    cloud = start(directory.path);
    return readyOf(cloud);
  };

  await remove('DeleteRobot', { id: machineId });
  await remove('DeleteLocation', { locationId });
  await remove('DeleteOrganization', { organizationId });
  for (let round = 0; round < 2; round++) {
    const again = await restarted();
    // Deleted objects are not created again, and no key is issued.
    expect(again).toMatchObject({ machineId, keyId: '' });
    expect(again['key']).toBeUndefined();
    expect(String(again['signInLink'])).toMatch(/\/sign-in\?token=/);
    await expect(call(again['url'], 'proto.rpc.v1.AuthService/Authenticate', credentials)).rejects.toThrow(
      /expected the key that belongs to this id/,
    );
  }
  // Its data is deleted too, in the background.
  await cloud.kill('SIGTERM');
  using metadata = new DatabaseSync(join(directory.path, 'meta.sqlite'), { readOnly: true });
  const deletions = metadata.prepare('select organization_id, predicate from tabular_deletes').all();
  expect(deletions.map((row) => ({ ...row }))).toEqual([{ organization_id: organizationId, predicate: '{}' }]);
});
