/** For tests of modules: a machine-server in this process with a fake cloud. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import { connect, type Link } from '@platform/rpc/client';
import type { MachineServer } from '../../compose.ts';
import { type FakeCloud, startFakeCloud } from '../fake-cloud.ts';
import { createTestHome, startTestServer, type TestServerOptions, until } from '../start-test-server.ts';

export interface ModuleMachine extends AsyncDisposable {
  readonly home: string;
  readonly cloud: FakeCloud;
  readonly server: MachineServer;
  /** A link to the machine's own port. */
  readonly link: Link;
  /** Stops the server and starts it again with the same home. */
  restart(): Promise<void>;
  /** Saves another configuration; everything is captured and synced often. */
  configure(document: JsonObject): void;
  /** State and error of a resource. */
  statusOf(name: string): { readonly state: string; readonly error: string } | undefined;
  /** Readings of a sensor that reached the cloud. */
  captured(name: string): readonly JsonObject[];
  /** The log of the server so far; its last lines may be missing. */
  log(): string;
  /** Resolves once the log contains this. */
  logged(what: string | RegExp): Promise<void>;
}

const dataManager = {
  ...{ name: 'dm', api: 'core:service:data_manager', model: 'builtin' },
  attributes: { sync_interval_mins: 0.002 },
};

/** @param local more keys of its `-config` file */
export async function startModuleMachine(options: TestServerOptions = {}, local: object = {}): Promise<ModuleMachine> {
  await using starting = new AsyncDisposableStack();
  const cloud = starting.use(await startFakeCloud({ services: [dataManager] }));
  const home = starting.use(await createTestHome(cloud.url, local));
  const begin = async () => {
    await using beginning = new AsyncDisposableStack();
    const server = beginning.use(await startTestServer(home, undefined, undefined, options));
    const link = beginning.use(connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` }));
    const running = beginning.move();
    return { server, link, [Symbol.asyncDispose]: () => running.disposeAsync() };
  };
  let now = await begin();
  starting.defer(() => now[Symbol.asyncDispose]());
  const stack = starting.move();
  const log = (): string => readFileSync(join(home.path, 'log'), 'utf8');
  return {
    ...{ home: home.path, cloud },
    get server() {
      return now.server;
    },
    get link() {
      return now.link;
    },
    async restart() {
      await now[Symbol.asyncDispose]();
      now = await begin();
    },
    configure(document) {
      cloud.document = { ...document, services: [dataManager, ...((document['services'] ?? []) as JsonObject[])] };
    },
    statusOf: (name) => now.server.graph.status().find(({ config }) => config.name === name),
    captured: (name) =>
      cloud.stored
        .filter(({ metadata }) => metadata.componentName === name)
        .flatMap(({ readings }) => readings.map(({ data }) => data.value as JsonObject)),
    log,
    logged: (what) => until(String(what), () => (typeof what === 'string' ? log().includes(what) : what.test(log()))),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
