/**
 * A module for tests, as an author could write it with only an RPC server. Models: `acme:demo:counter` of sensor, `acme:demo:mirror` of
 * camera, whose properties are the fields of the request that it does not know, and `acme:demo:oracle` of a type that only this module knows.
 *
 * Attributes of a counter: `greeting` (required text) is part of its readings; `uses` names a sensor whose readings become part of them,
 * `may_use` one that may be missing; with `raises: true` its constructor fails, and the one before is gone. DoCommand `{"exit": 3}` ends the process, `{"hang": true}` never answers, `{"answer_bytes": 9}`
 * answers a text of that length. As the public library for Go does, a resource logs at the level of its configuration, or else at that of
 * the process: a line `details of c` at debug whenever it is built or changed.
 */
import { create, createFileRegistry, fromJson, type JsonObject } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, ValueSchema } from '@bufbuild/protobuf/wkt';
import { canonicalApi, PlatformError, silentLog } from '@platform/base';
import type { ComponentConfig } from '@platform/proto/platform/app/v1/robot';
import { file_platform_common_v1_common } from '@platform/proto/platform/common/v1/common';
import { CameraService, GetPropertiesResponseSchema } from '@platform/proto/platform/component/camera/v1/camera';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect, type Link } from '@platform/rpc/client';
import { createRpcServer, type Handlers, type ServiceBinding, serve } from '@platform/rpc/server';

const common = file_platform_common_v1_common;
const method = (name: string, input: string, output: string): JsonObject => ({
  name,
  inputType: input,
  outputType: output,
});
const oracleFile = fromJson(FileDescriptorProtoSchema, {
  ...{ name: 'acme/oracle.proto', package: 'acme.oracle.v1', syntax: 'proto3', dependency: [`${common.name}.proto`] },
  messageType: [
    { name: 'Question', field: ['name', 'text'].map((name, at) => ({ name, number: at + 1, type: 'TYPE_STRING' })) },
    // The field that names its resource differs from that of all public services.
    { name: 'Secret', field: ['text', 'name'].map((name, at) => ({ name, number: at + 1, type: 'TYPE_STRING' })) },
    { name: 'Answer', field: [{ name: 'text', number: 1, type: 'TYPE_STRING' }] },
  ],
  service: [
    {
      name: 'OracleService',
      method: [
        method('Ask', '.acme.oracle.v1.Question', '.acme.oracle.v1.Answer'),
        { ...method('Mutter', '.acme.oracle.v1.Question', '.acme.oracle.v1.Answer'), serverStreaming: true },
        method('Whisper', '.acme.oracle.v1.Secret', '.acme.oracle.v1.Answer'),
        method('DoCommand', '.platform.common.v1.DoCommandRequest', '.platform.common.v1.DoCommandResponse'),
        method('GetStatus', '.platform.common.v1.GetStatusRequest', '.platform.common.v1.GetStatusResponse'),
      ],
    },
  ],
});
const resolve = (name: string) => [common, ...common.dependencies].find((file) => `${file.name}.proto` === name);
const found = createFileRegistry(oracleFile, resolve).getService('acme.oracle.v1.OracleService');
if (found === undefined) throw new Error('expected the service of the oracle');
export const oracleService = found;

interface Held {
  attributes: JsonObject;
  dependencies: readonly string[];
  reads: number;
}

const attributesOf = (config: ComponentConfig | undefined): JsonObject => config?.attributes ?? {};
const fullName = (config: ComponentConfig | undefined): string => `${config?.api}/${config?.name}`;
const check = (config: ComponentConfig | undefined): void => {
  const { greeting } = attributesOf(config);
  if (config?.model === 'acme:demo:counter' && typeof greeting !== 'string')
    throw new PlatformError(
      'invalid_argument',
      `attributes.greeting: expected text, found ${JSON.stringify(greeting)}`,
    );
};
const construct = (config: ComponentConfig | undefined): void => {
  if (attributesOf(config)['raises'] === true) throw new PlatformError('failed_precondition', 'the constructor raises');
};

const handler = (api: string, protoService: string, model: string) => {
  const [namespace = '', type = '', subtype = ''] = api.split(':');
  return { subtype: { subtype: { namespace, type, subtype }, protoService }, models: [model] };
};
const handlers = [
  handler('core:component:sensor', SensorService.typeName, 'acme:demo:counter'),
  handler('core:component:camera', CameraService.typeName, 'acme:demo:mirror'),
  handler('acme:component:oracle', oracleService.typeName, 'acme:demo:oracle'),
];

/** @param parent the machine-server */
async function logDetails(config: ComponentConfig | undefined, parent: Link | undefined): Promise<void> {
  const level = config?.logConfiguration?.level || (process.argv.includes('--log-level=debug') ? 'debug' : 'info');
  if (level !== 'debug') return;
  const loggerName = `demo.${fullName(config).replace(/^core:/, 'rdk:')}`;
  const details = { level: 'debug', loggerName, message: `details of ${config?.name}` };
  await parent?.client(RobotService).log({ logs: [details] });
}

/** Serves until the process is told to end. @param address path of a socket, or host:port */
export async function runTestModule(address: string): Promise<void> {
  const resources = new Map<string, Held>();
  let parent: Link | undefined;
  const heldAs = (kind: string, name: string): Held => {
    const held = resources.get(`core:component:${kind}/${name}`) ?? resources.get(`acme:component:${kind}/${name}`);
    if (held === undefined) throw new PlatformError('not_found', `no ${kind} ${name}`);
    return held;
  };
  const module = serve<typeof ModuleService>(ModuleService, {
    async ready({ rawParentAddress }) {
      const where = rawParentAddress.startsWith('/')
        ? { baseUrl: 'http://parent', socketPath: rawParentAddress }
        : { baseUrl: `http://${rawParentAddress}` };
      parent ??= connect({ ...where, vocabulary: 'rdk' });
      process.stdout.write(`its parent is at ${rawParentAddress}\n`);
      const robot = parent.client(RobotService);
      const { resources: names } = await robot.resourceNames({});
      const logs = [{ level: 'warn', loggerName: 'greeter', message: `the parent has ${names.length} resources` }];
      await robot.log({ logs });
      return { ready: true, handlermap: { handlers } };
    },
    validateConfig({ config }) {
      check(config);
      const { uses, may_use: mayUse } = attributesOf(config);
      const list = (name: unknown): string[] => (typeof name === 'string' ? [name] : []);
      return { dependencies: list(uses), optionalDependencies: list(mayUse) };
    },
    async addResource({ config, dependencies }) {
      if (resources.has(fullName(config))) throw new PlatformError('already_exists', fullName(config));
      construct(config);
      resources.set(fullName(config), { attributes: attributesOf(config), dependencies, reads: 0 });
      await logDetails(config, parent);
      return {};
    },
    async reconfigureResource({ config, dependencies }) {
      const held = resources.get(fullName(config));
      if (held === undefined) throw new PlatformError('not_found', fullName(config));
      resources.delete(fullName(config));
      construct(config);
      resources.set(fullName(config), held);
      Object.assign(held, { attributes: attributesOf(config), dependencies });
      await logDetails(config, parent);
      return {};
    },
    removeResource({ name }) {
      if (!resources.delete(canonicalApi(name))) throw new PlatformError('not_found', name);
      process.stdout.write(`removed ${name}\n`);
      return {};
    },
  });
  const sensor = serve<typeof SensorService>(SensorService, {
    async getReadings({ name }) {
      const held = heldAs('sensor', name);
      held.reads++;
      const seen: Record<string, string> = {};
      for (const full of held.dependencies) {
        const { readings } =
          (await parent?.client(SensorService).getReadings({ name: full.split('/')[1] ?? '' })) ?? {};
        seen[`seen_${full.split('/')[1]}`] = Object.keys(readings ?? {}).join(' ');
      }
      const values = { greeting: held.attributes['greeting'] ?? null, reads: held.reads, pid: process.pid, ...seen };
      const entries = Object.entries(values).map(([key, value]) => [key, fromJson(ValueSchema, value)]);
      return { readings: Object.fromEntries(entries) };
    },
    async doCommand({ name, command }) {
      heldAs('sensor', name);
      if (typeof command?.['exit'] === 'number') process.exit(command['exit']);
      if (command?.['hang'] === true) await new Promise(() => {});
      const bytes = command?.['answer_bytes'];
      if (typeof bytes === 'number') return { result: { text: 'x'.repeat(bytes) } };
      return { result: { environment: process.env['TEST_VARIABLE'] ?? '', home: process.env['VIAM_HOME'] ?? '' } };
    },
  });
  const camera = serve<typeof CameraService>(
    CameraService,
    {
      getProperties({ $unknown }) {
        const answer = create(GetPropertiesResponseSchema);
        if ($unknown) answer.$unknown = $unknown;
        return answer;
      },
    },
    { keepUnknown: true },
  );
  const oracle = serve(oracleService, {
    ask: ({ name, text }: { name: string; text: string }) => ({ text: `${name} says: ${text}? yes` }),
    async *mutter({ text }: { text: string }) {
      for (const word of text.split(' ')) yield { text: word };
    },
    whisper: ({ name, text }: { name: string; text: string }) => ({ text: `${name} hears ${text}` }),
    doCommand: ({ name, command }: { name: string; command: JsonObject }) => ({
      result: { ...command, oracle: name, mood: heldAs('oracle', name).attributes['mood'] ?? 'calm' },
    }),
    getStatus: () => ({ result: { awake: true } }),
  } as unknown as Handlers<typeof oracleService>);
  await listen([module, sensor, camera, oracle], address);
}

async function listen(services: readonly ServiceBinding[], address: string): Promise<void> {
  const server = createRpcServer({
    services,
    authenticate: async () => 'parent',
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  process.on('SIGTERM', () => {
    process.stdout.write('ending\n', () => process.exit(0));
  });
  const port = /^127\.0\.0\.1:(\d+)$/.exec(address)?.[1];
  if (port === undefined) await server.listenOnSocket(address);
  else await server.listen({ host: '127.0.0.1', port: Number(port) });
  process.stderr.write(`listening with ${process.argv.slice(3).join(' ') || 'no options'}\n`);
}

if (process.argv[1] === import.meta.filename) await runTestModule(process.argv[2] ?? '');
