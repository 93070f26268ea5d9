/** The watchdog of the real cloud, whose loop is held by a lookup that a preloaded module makes endless. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { type ChildProcess, spawnChild, startPostgres, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { program } from '../../tools/bundles/program.ts';
import { Peer } from './clients/grpc-peer.ts';

const main = program('cloud');
const preload = `data:text/javascript,${encodeURIComponent(`
  if (process.argv[1]?.endsWith('cloud.js')) {
    const { has } = Set.prototype;
    const { get } = Map.prototype;
    const spinFor = (key) => { if (key === 'please.Spin') for (;;); };
    Set.prototype.has = function (key) { spinFor(key); return has.call(this, key); };
    Map.prototype.get = function (key) { spinFor(key); return get.call(this, key); };
  }`)}`;

/** As if the system counted processor time this many times as fast, for an end whose wait proves nothing that another test does not. */
const fasterTime = 5;
const fasterPreload = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { readFileSync } = fs;
  const ofThread = /^\\/proc\\/self\\/task\\/\\d+\\/stat$/;
  fs.readFileSync = (path, ...more) => {
    const text = readFileSync(path, ...more);
    if (!ofThread.test(path)) return text;
    const from = text.lastIndexOf(')') + 2;
    const fields = text.slice(from).split(' ');
    for (const field of [11, 12]) fields[field] *= ${fasterTime};
    return text.slice(0, from) + fields.join(' ');
  };
  syncBuiltinESMExports();`)}`;

interface Started extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly target: string;
  readonly ready: Readonly<Record<string, unknown>>;
}

async function start(
  dataDirectory: string,
  env: Readonly<Record<string, string>> = {},
  preloads: readonly string[] = [preload],
): Promise<Started> {
  const imports = preloads.flatMap((module) => ['--import', module]);
  const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning', ...imports];
  const args = [...flags, main, '--data', dataDirectory, '--port', '0', '--json'];
  const process_ = spawnChild(process.execPath, args, { env });
  const ready = await process_.waitForLine((line) => line['event'] === 'ready');
  return {
    process: process_,
    target: new URL(String(ready['url'])).host,
    ready,
    [Symbol.asyncDispose]: async () => void (await process_.kill()),
  };
}

/** Makes a call that never returns, and waits until the cloud has ended because of it. */
async function holdLoop(cloud: Started, keyId: string, key: string): Promise<void> {
  using caller = new Peer(cloud.target, 'platform');
  await caller.signIn(keyId, 'api-key', key);
  const stuck = caller.call('platform.app.v1.AppService', 'ListLocations', { organization_id: 'please.Spin' });
  await expect(stuck).rejects.toMatchObject({ code: status.UNAVAILABLE });
  expect((await cloud.process.exited).signal).toBe('SIGKILL');
}

/** The lines that the watchdog logged. */
function said({ process: { stderr } }: Started): Record<string, unknown>[] {
  const lines = stderr.split('\n').filter((line) => line.includes('"logger":"watchdog"'));
  return lines.map((line) => JSON.parse(line));
}

test('a call that holds the loop ends the cloud, which names the call, its caller and its stack; at the third end that caller is refused, and nobody else', async () => {
  await using directory = await temporaryDirectory();
  let key = '';
  {
    await using cloud = await start(directory.path);
    key = String(cloud.ready['key']);
    await holdLoop(cloud, String(cloud.ready['keyId']), key);
    const [line] = said(cloud);
    expect(line).toMatchObject({
      level: 'error',
      method: '/platform.app.v1.AppService/ListLocations',
      caller: `key:${String(cloud.ready['keyId'])}`,
      stack: expect.arrayContaining([expect.stringMatching(/^spinFor /), expect.stringContaining('apps/cloud/src/')]),
    });
  }
  // Each end takes ten seconds of processor time, so the other two are copies of what the first one left.
  const ends = join(directory.path, 'watchdog.ndjson');
  const end = readFileSync(ends, 'utf8');
  expect(end.trim().split('\n')).toHaveLength(1);
  appendFileSync(ends, end.repeat(2));
  await using cloud = await start(directory.path);
  expect(said(cloud)[0]?.['msg']).toMatch(/^calls of key .* are refused until .* 3 times within a day/);
  using refused = new Peer(cloud.target, 'platform');
  await refused.signIn(String(cloud.ready['keyId']), 'api-key', key);
  await expect(refused.call('platform.app.v1.AppService', 'ListOrganizations', {})).rejects.toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
    details: expect.stringContaining('/platform.app.v1.AppService/ListLocations'),
  });
  using other = new Peer(cloud.target, 'platform');
  const demo = JSON.parse(readFileSync(join(directory.path, 'demo.json'), 'utf8'));
  await other.signIn(demo.keyId, 'api-key', demo.key);
  expect(await other.call('platform.app.v1.AppService', 'ListOrganizations', {})).toBeDefined();
}, 600_000);

test('a cloud in Postgres has a thread of its own that watches', async () => {
  await using directory = await temporaryDirectory();
  await using server = await startPostgres();
  const env = { PLATFORM_DATABASE_URL: server.url('postgres') };
  await using cloud = await start(directory.path, env, [preload, fasterPreload]);
  await holdLoop(cloud, String(cloud.ready['keyId']), String(cloud.ready['key']));
  expect(said(cloud)[0]).toMatchObject({
    ...{ level: 'error', method: '/platform.app.v1.AppService/ListLocations' },
    stack: expect.arrayContaining([expect.stringMatching(/^spinFor /)]),
  });
}, 600_000);
