import type { JsonObject } from '@bufbuild/protobuf';
import { ServerReflection } from '@platform/proto/grpc/reflection/v1/reflection';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ModuleStatus_State, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { expect, onTestFinished, test } from 'vitest';
import { startModuleMachine } from '../testing/modules/module-machine.ts';
import { oracleService } from '../testing/modules/test-module.ts';
import { writePythonModule, writeTestModule } from '../testing/modules/write-module.ts';
import { until } from '../testing/start-test-server.ts';

const captures = (method: string, additional_params: JsonObject = {}): JsonObject => ({
  type: 'data_manager',
  attributes: { capture_methods: [{ method, capture_frequency_hz: 20, additional_params }] },
});
const sensor = (model: string, greeting: string, more: JsonObject = {}): JsonObject => ({
  ...{ name: 'c', api: 'rdk:component:sensor', model, attributes: { greeting, ...more } },
  service_configs: [captures('Readings')],
});

const languages = [
  ['TypeScript', writeTestModule, 'acme:demo:counter'],
  ['Python', writePythonModule, 'acme:python:counter'],
] as const;

test.each(languages)(
  'a module in %s serves a sensor that is captured, reconfigured in place, killed, and served again by its next process',
  async (_language, write, model) => {
    await using machine = await startModuleMachine();
    const modules = [{ name: 'demo', executable_path: await write(machine.home) }];
    machine.configure({ modules, components: [sensor(model, 'hello')] });
    const readings = async (): Promise<JsonObject> => {
      const answer = await machine.link.client(SensorService).getReadings({ name: 'c' });
      return Object.fromEntries(
        Object.entries(answer.readings).map(([key, value]) => [key, value.kind.value as string]),
      );
    };
    await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
    const first = await readings();
    expect(first['greeting']).toBe('hello');
    const isCaptured = (greeting: string): boolean =>
      machine.captured('c').some(({ readings: captured }) => (captured as JsonObject)['greeting'] === greeting);
    await until('captured readings', () => isCaptured('hello'));

    machine.configure({ modules, components: [sensor(model, 'bye')] });
    await until('the new greeting', async () => (await readings())['greeting'] === 'bye');
    await until('captured readings of the new greeting', () => isCaptured('bye'));
    const { pid, reads } = await readings();
    expect(pid).toBe(first['pid']);
    expect(Number(reads)).toBeGreaterThan(Number(first['reads']));

    process.kill(Number(pid), 'SIGKILL');
    await until('the reason', () =>
      machine.log().includes('module "demo": it was ended by SIGKILL; starting it again'),
    );
    const failed = 'module "demo", which has its model, is not running: it was ended by SIGKILL';
    await until('the reason at the sensor', () => machine.log().includes(failed));
    await until('another process', async () => {
      const next = await readings().catch((): JsonObject => ({}));
      return next['pid'] !== undefined && next['pid'] !== pid;
    });
    expect((await readings())['greeting']).toBe('bye');
    expect(machine.server.modules.status()).toMatchObject([{ state: 'ready', error: '', failures: 1 }]);
    const { modules: told } = await machine.link.client(RobotService).getMachineStatus({});
    expect(told).toMatchObject([{ moduleName: 'demo', state: ModuleStatus_State.READY, consecutiveFailures: 1 }]);
    await machine.logged(/(WARN|INFO) {1,2}modules\.demo\.(greeter|snake) the parent has 1 resources/);
  },
);

test.each(languages)(
  'a sensor of a module in %s whose constructor raises after an edit is captured again after the corrected one, by the same process',
  async (_language, write, model) => {
    await using machine = await startModuleMachine();
    const modules = [{ name: 'demo', executable_path: await write(machine.home) }];
    const captured = (greeting: string): JsonObject[] =>
      machine
        .captured('c')
        .map(({ readings }) => readings as JsonObject)
        .filter((readings) => readings['greeting'] === greeting);
    machine.configure({ modules, components: [sensor(model, 'hello')] });
    await until('captured readings', () => captured('hello').length > 0);

    machine.configure({ modules, components: [sensor(model, 'mistake', { raises: true })] });
    await until('the error', () => machine.statusOf('c')?.error.includes('the constructor raises') === true);

    machine.configure({ modules, components: [sensor(model, 'corrected')] });
    await until('captured readings of the corrected one', () => captured('corrected').length > 0);
    expect(machine.statusOf('c')).toMatchObject({ state: 'ready', error: '' });
    expect(captured('corrected')[0]?.['pid']).toBe(captured('hello')[0]?.['pid']);
    expect(machine.server.modules.status()).toMatchObject([{ state: 'ready', failures: 0 }]);
  },
);

test('a module whose process ends during a call is UNAVAILABLE for its caller, not CANCELLED', async () => {
  await using machine = await startModuleMachine();
  const modules = [{ name: 'demo', executable_path: await writeTestModule(machine.home) }];
  const sensor = { name: 's', api: 'rdk:component:sensor', model: 'acme:demo:counter', attributes: { greeting: 'hi' } };
  machine.configure({ modules, components: [sensor] });
  const { getReadings, doCommand } = machine.link.client(SensorService);
  await until('readings', async () => (await getReadings({ name: 's' }).catch(() => undefined)) !== undefined);
  await expect(doCommand({ name: 's', command: { exit: 3 } })).rejects.toMatchObject({ code: 'unavailable' });
});

test('all methods of a type that only a module knows can be called; it is listed, described and captured by DoCommand', async () => {
  await using machine = await startModuleMachine();
  const modules = [{ name: 'demo', executable_path: await writeTestModule(machine.home) }];
  const oracle = { name: 'o', api: 'acme:component:oracle', model: 'acme:demo:oracle', attributes: { mood: 'good' } };
  const service_configs = [captures('DoCommand', { docommand_input: { ask: 1 } })];
  machine.configure({ modules, components: [{ ...oracle, service_configs }] });
  await until('captured commands', () => machine.captured('o').length > 0);
  expect(machine.captured('o')[0]).toEqual({ ask: 1, oracle: 'o', mood: 'good' });
  const client = machine.link.client(oracleService) as unknown as {
    ask(request: object): Promise<object>;
    getStatus(request: object): Promise<object>;
  };
  expect(await client.ask({ name: 'o', text: 'rain' })).toMatchObject({ text: 'o says: rain? yes' });
  expect(await client.getStatus({ name: 'o' })).toMatchObject({ result: { awake: true } });
  await expect(client.ask({ name: 'none' })).rejects.toThrow('this machine has no oracle "none"');
  const robot = machine.link.client(RobotService);
  const { resourceRpcSubtypes } = await robot.resourceRPCSubtypes({});
  expect(resourceRpcSubtypes.map(({ protoService }) => protoService)).toContain('acme.oracle.v1.OracleService');
  expect((await robot.getModelsFromModules({})).models).toMatchObject([
    { moduleName: 'demo', api: 'core:component:sensor', model: 'acme:demo:counter', fromLocalModule: true },
    { moduleName: 'demo', api: 'core:component:camera', model: 'acme:demo:mirror' },
    { moduleName: 'demo', api: 'acme:component:oracle', model: 'acme:demo:oracle' },
  ]);
  async function* ask() {
    yield { messageRequest: { case: 'fileContainingSymbol', value: 'acme.oracle.v1.OracleService' } as const };
  }
  for await (const { messageResponse } of machine.link.client(ServerReflection).serverReflectionInfo(ask()))
    expect(messageResponse.case).toBe('fileDescriptorResponse');
});

test('a type of a module without reflection is captured by DoCommand', async () => {
  await using machine = await startModuleMachine();
  const modules = [{ name: 'py', executable_path: await writePythonModule(machine.home) }];
  const parrot = { name: 'p', api: 'acme:component:parrot', model: 'acme:python:parrot' };
  const service_configs = [captures('DoCommand', { docommand_input: { say: 'hi' } })];
  machine.configure({ modules, components: [{ ...parrot, service_configs }] });
  await until('captured commands', () => machine.captured('p').length > 0);
  expect(machine.captured('p')[0]).toEqual({ say: 'hi', parrot: 'p' });
});

test('a module’s check of a configuration gives errors, and required and optional dependencies, which it reads through its parent', async () => {
  await using machine = await startModuleMachine();
  const modules = [{ name: 'demo', executable_path: await writeTestModule(machine.home) }];
  const reader = (attributes: JsonObject): JsonObject => ({
    ...{ name: 'c', api: 'core:component:sensor', model: 'acme:demo:counter', attributes },
  });
  const fake = (name: string): JsonObject => ({
    ...{ name, api: 'core:component:sensor', model: 'fake', attributes: { readings: { level: 7 } } },
  });
  machine.configure({ modules, components: [reader({ greeting: 5 })] });
  await until('the refusal', () => machine.statusOf('c')?.error === 'attributes.greeting: expected text, found 5');
  const uses = { greeting: 'hi', uses: 'tank', may_use: 'lake' };
  machine.configure({ modules, components: [reader(uses)] });
  const missing = '"tank", which it depends on, is not in the configuration, or is disabled there';
  await until('the missing one', () => machine.statusOf('c')?.error === missing);
  machine.configure({ modules, components: [reader(uses), fake('tank')] });
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  const readings = async (): Promise<readonly string[]> => {
    const answer = await machine.link.client(SensorService).getReadings({ name: 'c' });
    return Object.keys(answer.readings).filter((key) => key.startsWith('seen_'));
  };
  expect(await readings()).toEqual(['seen_tank']);
  machine.configure({ modules, components: [reader(uses), fake('tank'), fake('lake')] });
  await until('the optional one', async () => (await readings()).length === 2);
});

test('a restart removes the resources of a module in the order of a shutdown: dependents before their dependencies', async () => {
  await using machine = await startModuleMachine();
  const modules = [{ name: 'demo', executable_path: await writeTestModule(machine.home) }];
  const dependent = (name: string, depends_on: string[]): JsonObject => ({
    ...{ name, api: 'core:component:sensor', model: 'acme:demo:counter', attributes: { greeting: 'hi' }, depends_on },
  });
  const names = ['r', 'q', 'p', 's'];
  const components = names.map((name, index) => dependent(name, index < 3 ? [names[index + 1] ?? ''] : []));
  machine.configure({ modules, components });
  const areReady = (): boolean => names.every((name) => machine.statusOf(name)?.state === 'ready');
  await until('the sensors', areReady);
  const removed = (): string[] =>
    [...machine.log().matchAll(/removed core:component:sensor\/(\w)/g)].map(([, name]) => String(name));
  await machine.link.client(RobotService).restartModule({ idOrName: { case: 'moduleName', value: 'demo' } });
  await until('the second start', () => machine.log().split('module "demo" is ready').length === 3 && areReady());
  await until('the lines of the removals', () => removed().length === 4);
  expect(removed()).toEqual(names);
  await machine.server[Symbol.asyncDispose]();
  expect(removed().slice(4), 'as at the shutdown').toEqual(names);
});

test.each(languages)(
  '"debug" in the configuration, and as a pattern, reaches a running module in %s and overrides its own levels',
  async (_language, write, model) => {
    await using machine = await startModuleMachine();
    const module = { name: 'demo', executable_path: await write(machine.home), log_level: 'warn' };
    const component = { ...sensor(model, 'hello'), name: 'c.d', log_configuration: { level: 'info' } };
    const details = (): number =>
      machine.log().split(/DEBUG modules\.demo\.core:component:sensor\/c.d .*details of c\.d/).length - 1;
    const isReady = () => machine.statusOf('c.d')?.state === 'ready';
    machine.configure({ modules: [module], components: [component] });
    await until('the sensor', isReady);
    expect(details()).toBe(0);
    machine.configure({ modules: [module], components: [component], debug: true });
    await until('the lines at debug', () => details() === 1 && isReady());
    expect(machine.log()).toContain('module "demo" is started again with the log level debug');

    const { log_configuration: _, ...plain } = component;
    machine.configure({ modules: [module], components: [plain], log: [{ pattern: 'demo', level: 'info' }] });
    await until('the next process', () => machine.log().includes('started again with the log level warn') && isReady());
    expect(details()).toBe(1);
    // A pattern for one resource does not interrupt the others: their process stays.
    const log = [{ pattern: 'core:component:sensor/c.d', level: 'debug' }];
    const starts = machine.log().split('module "demo" started').length;
    machine.configure({ modules: [module], components: [plain], log });
    await until('the lines of the pattern', () => details() === 2);
    expect(machine.log().split('module "demo" started').length).toBe(starts);

    machine.configure({ modules: [module], components: [plain], log: [{ pattern: 'demo', level: 'debug' }] });
    await until('the lines of the pattern for the module', () => details() === 3);
  },
);

test('-debug reaches the resources of modules, whatever their own level', async () => {
  await using machine = await startModuleMachine({ args: ['-debug'] });
  const module = { name: 'demo', executable_path: await writeTestModule(machine.home), log_level: 'warn' };
  const component = { ...sensor('acme:demo:counter', 'hello'), log_configuration: { level: 'error' } };
  machine.configure({ modules: [module], components: [component] });
  await machine.logged('DEBUG modules.demo.core:component:sensor/c details of c');
  await machine.logged('listening with --log-level=debug');
});

test('a module is restarted on request, changed and removed: its resources go first, its process ends, its environment is configured', async () => {
  const machine = await startModuleMachine();
  onTestFinished(() => machine[Symbol.asyncDispose]());
  const executable_path = await writeTestModule(machine.home);
  const module = { name: 'demo', executable_path, log_level: 'debug', env: { TEST_VARIABLE: 'yes' } };
  machine.configure({ modules: [module], components: [sensor('acme:demo:counter', 'hello')] });
  const command = async (): Promise<JsonObject | undefined> => {
    return (await machine.link.client(SensorService).doCommand({ name: 'c', command: {} })).result;
  };
  const starts = (): number => machine.log().split('module "demo" is ready').length - 1;
  await until('the sensor', () => machine.statusOf('c')?.state === 'ready');
  expect(await command()).toEqual({ environment: 'yes', home: machine.home });
  await machine.logged('listening with --log-level=debug');
  const robot = machine.link.client(RobotService);
  await robot.restartModule({ idOrName: { case: 'moduleName', value: 'demo' } });
  await until('the second start', () => starts() === 2 && machine.statusOf('c')?.state === 'ready');
  await machine.logged(/removed core:component:sensor\/c\n.*\n?.*ending/);
  await expect(robot.restartModule({ idOrName: { case: 'moduleName', value: 'demi' } })).rejects.toThrow(
    'expected a module of this machine (demo), found "demi"',
  );
  machine.configure({
    modules: [{ ...module, env: { TEST_VARIABLE: 'no' }, tcp_mode: true }],
    components: [sensor('acme:demo:counter', 'hello')],
  });
  await until('the change', async () => (await command().catch(() => undefined))?.['environment'] === 'no');
  await machine.logged('listening with --log-level=debug --tcp-mode');
  machine.configure({});
  await until('the end', () => machine.log().split('ending').length === 4);
  expect(machine.server.modules.status()).toEqual([]);
  expect(machine.log()).not.toContain('sensor/c could not be built');
});
