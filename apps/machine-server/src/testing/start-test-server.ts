/** For tests: a machine-server in this process, with its own home, credentials for a fake cloud, and a readable log. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@platform/base';
import { type ResourceDescriptor, resourceTypes } from '@platform/resources';
import { type MachineServer, startMachineServer } from '../compose.ts';
import type { Model } from '../graph/model.ts';
import { createServerLog } from '../logging/server-log.ts';
import { builtInModels } from '../models/built-in.ts';
import { readSettings } from '../settings.ts';
import { partId } from './fake-cloud.ts';

export interface TestHome extends AsyncDisposable {
  readonly path: string;
  readonly configFile: string;
}

export async function createTestHome(url: string, more: object = {}): Promise<TestHome> {
  const path = await mkdtemp(join(tmpdir(), 'machine-server-'));
  const configFile = join(path, 'credentials.json');
  const cloud = { id: partId, secret: 'secret', app_address: url, refresh_interval: '100ms' };
  await writeFile(configFile, JSON.stringify({ cloud, ...more }));
  return { path, configFile, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The time of this computer, but without the limit of 2 s for a stop. */
export const patientClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => (ms === 2_000 ? new Promise(() => {}) : systemClock.sleep(ms, signal)),
};

export interface TestServerOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** @param added types and models in addition to the product's. */
export async function startTestServer(
  home: TestHome,
  clock: Clock = patientClock,
  added: { readonly types: readonly ResourceDescriptor[]; readonly models: readonly Model[] } = {
    types: [],
    models: [],
  },
  { args = [], env = {} }: TestServerOptions = {},
): Promise<MachineServer> {
  const settings = readSettings(['-config', home.configFile, '-log-file', join(home.path, 'log'), ...args], {
    PLATFORM_HOME: home.path,
    ...env,
  });
  const serverLog = createServerLog({ file: settings.logFile, alsoFile: undefined, clock: systemClock });
  const starting = startMachineServer({
    settings,
    configFile: home.configFile,
    types: [...resourceTypes, ...added.types],
    models: (parts) => [...builtInModels(parts), ...added.models],
    clock,
    serverLog,
    signal: new AbortController().signal,
    restart: () => {},
    shutdown: () => {},
  });
  const closeLog = async (): Promise<void> => {
    await serverLog[Symbol.asyncDispose]();
  };
  const server = await starting.catch(async (caught: unknown) => {
    await closeLog();
    throw caught;
  });
  const stop = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await closeLog();
  };
  return { ...server, [Symbol.asyncDispose]: stop };
}

/** A machine with one fake sensor that counts its readings, captured `hz` times a second and synced as often. */
export function countingDocument(
  hz: number,
  more: { method?: object; service?: object; readings?: object } = {},
): Record<string, unknown> {
  return {
    components: [
      {
        name: 'counter',
        api: 'core:component:sensor',
        model: 'core:builtin:fake',
        attributes: { wave: true, readings: more.readings ?? {} },
        service_configs: [
          {
            type: 'data_manager',
            attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: hz, ...more.method }] },
          },
        ],
      },
    ],
    services: [
      {
        name: 'dm',
        api: 'core:service:data_manager',
        model: 'core:builtin:builtin',
        attributes: { sync_interval_mins: 0.002, ...more.service },
      },
    ],
  };
}

/** Resolves once `condition` is true; rejects with what it waited for shortly before the test's time limit. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 280_000;
  while (performance.now() < untilMs) {
    if (await condition()) return;
    await systemClock.sleep(20);
  }
  throw new Error(`waited in vain for: ${what}`);
}
