/** For tests: a machine-server in this process whose configuration is a local file. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import type { MachineServer } from '../compose.ts';
import { startTestServer, type TestServerOptions, until } from './start-test-server.ts';

export interface LocalHome extends AsyncDisposable {
  readonly path: string;
  readonly configFile: string;
  /** Writes the file in place. */
  write(document: unknown): Promise<void>;
  /** The log of its servers so far; the last lines may be missing. */
  log(): string;
  /** Resolves once the log contains this. */
  logged(what: string): Promise<void>;
}

export async function createLocalHome(document: unknown): Promise<LocalHome> {
  const path = await mkdtemp(join(tmpdir(), 'local-machine-'));
  const configFile = join(path, 'machine.json');
  const logFile = join(path, 'log');
  const log = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
  const home: LocalHome = {
    ...{ path, configFile, log },
    write: (next) => writeFile(configFile, typeof next === 'string' ? next : JSON.stringify(next, null, 2)),
    logged: (what) => until(what, () => log().includes(what)),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
  await home.write(document);
  return home;
}

export function startLocalServer(home: LocalHome, options: TestServerOptions = {}): Promise<MachineServer> {
  const env = { PLATFORM_BIND_ADDRESS: '127.0.0.1:0', ...options.env };
  return startTestServer(home, undefined, undefined, { ...options, env });
}

/** `name state` of each resource, in alphabetical order. */
export function states({ graph }: MachineServer): string {
  return graph
    .status()
    .map(({ config, state }) => `${config.name} ${state}`)
    .toSorted()
    .join(', ');
}

/** The configuration error in its status. */
export async function configError({ serving }: MachineServer): Promise<string> {
  await using link = connect({ baseUrl: `http://127.0.0.1:${serving.port}` });
  return (await link.client(RobotService).getMachineStatus({})).configError;
}
