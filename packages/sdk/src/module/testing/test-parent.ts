/** For tests: a machine-server as a module sees it. It has a socket with RobotService and one sensor, and calls the module protocol. */
import { setTimeout as after } from 'node:timers/promises';
import type { DescService, JsonObject } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ModuleService, type ReadyResponse } from '@platform/proto/platform/module/v1/module';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { type Client, connect, type Link } from '@platform/rpc/client';
import { createRpcServer, serve } from '@platform/rpc/server';
import { type ChildProcess, spawnChild, temporaryDirectory } from '@platform/testkit';

export interface LoggedLine {
  readonly level: string;
  readonly logger: string;
  readonly message: string;
}

export interface TestParent extends AsyncDisposable {
  /** `unix://…` */
  readonly address: string;
  readonly folder: string;
  readonly lines: readonly LoggedLine[];
  /** Stops answering, like a machine-server that was killed. */
  vanish(): Promise<void>;
}

/** Serves the sensor `water`, whose reading is `{value: 21}`. Refuses several log lines in one call, as public machine-servers do. */
export async function startTestParent(): Promise<TestParent> {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryDirectory('module-'));
  const lines: LoggedLine[] = [];
  const path = folder.file('parent.sock');
  const server = createRpcServer<undefined>({
    services: [
      serve<typeof RobotService, undefined>(RobotService, {
        resourceNames: () => ({ resources: [] }),
        log({ logs }) {
          if (logs.length !== 1) throw new Error(`expected one line, found ${logs.length}`);
          for (const { level, loggerName, message } of logs) lines.push({ level, logger: loggerName, message });
          return {};
        },
      }),
      serve<typeof SensorService, undefined>(SensorService, {
        getReadings({ name }, { vocabulary }) {
          if (name !== 'water' || vocabulary !== 'rdk') throw new Error(`unexpected call for ${name}`);
          return { readings: { value: { kind: { case: 'numberValue', value: 21 } } } };
        },
      }),
    ],
    authenticate: async () => undefined,
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  await server.listenOnSocket(path);
  stack.defer(() => server.close({ graceMs: 0 }));
  return {
    ...{ address: `unix://${path}`, folder: folder.path, lines },
    vanish: () => server.close({ graceMs: 0 }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export interface DrivenModule extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly socket: string;
  readonly protocol: Client<typeof ModuleService>;
  client<S extends DescService>(service: S): Client<S>;
  /** Calls Ready until the module answers, as machine-servers do. */
  ready(): Promise<ReadyResponse>;
  /** Validates, then adds a resource. */
  add(api: string, model: string, name: string, attributes?: JsonObject, dependencies?: string[]): Promise<void>;
}

/** Starts a module as machine-servers do. @param entry a TypeScript or JavaScript file */
export function driveModule(parent: TestParent, entry: string, args: readonly string[] = []): DrivenModule {
  const socket = `${parent.folder}/module.sock`;
  const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
  const child = spawnChild(process.execPath, [...flags, entry, socket, ...args], {
    env: { VIAM_MODULE_NAME: 'examples', PLATFORM_MODULE_DATA: '/data/examples' },
  });
  const link: Link = connect({
    ...{ baseUrl: 'http://localhost', socketPath: socket, vocabulary: 'rdk', peerName: 'the module' },
  });
  const protocol = link.client(ModuleService);
  const ended = child.exited.then(({ code }) => {
    throw new Error(`the module ended with exit code ${code}: ${child.stderr}`);
  });
  ended.catch(() => {});
  return {
    ...{ process: child, socket, protocol },
    client: (service) => link.client(service),
    async ready() {
      const request = { parentAddress: parent.address, rawParentAddress: parent.address.replace('unix://', '') };
      for (;;) {
        const answer = await Promise.race([protocol.ready(request).catch(() => undefined), ended]);
        if (answer?.ready === true) return answer;
        await after(50);
      }
    },
    async add(api, model, name, attributes = {}, dependencies = []) {
      const config = { api, model, name, attributes };
      await protocol.validateConfig({ config });
      await protocol.addResource({ config, dependencies });
    },
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await child[Symbol.asyncDispose]();
    },
  };
}
