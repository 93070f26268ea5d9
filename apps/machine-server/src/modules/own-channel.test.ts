import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { JsonObject } from '@bufbuild/protobuf';
import { createLog, silentLog, systemClock } from '@platform/base';
import { ModuleStatus_State, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { ShellService } from '@platform/proto/platform/service/shell/v1/shell';
import type { Resource } from '@platform/resources';
import { connect } from '@platform/rpc/client';
import { createRpcServer } from '@platform/rpc/server';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { requireResourceForCaller } from '../serve/module-channel.ts';
import { openParentPort, type ParentPortDeps } from '../serve/parent-port.ts';
import { type ModuleMachine, startModuleMachine } from '../testing/modules/module-machine.ts';
import { writeTestModule } from '../testing/modules/write-module.ts';
import { until } from '../testing/start-test-server.ts';

const isRoot = process.getuid?.() === 0;
const auth = { handlers: [{ type: 'api-key', config: { 'key-1': 'the secret of key 1', keys: ['key-1'] } }] };
const credentials = { entity: 'key-1', type: 'api-key', payload: 'the secret of key 1' };

async function parentOf(machine: ModuleMachine): Promise<string> {
  await until('the module', () => machine.server.modules.status()[0]?.state === 'ready');
  await machine.logged(/its parent is at /);
  return /its parent is at ([^\s"]+)/.exec(machine.log())?.[1] ?? '';
}

/** What a program of another account, or at least another program, gets from a port of this computer. */
async function askAsStranger(address: string): Promise<string> {
  const url = `http://${address}/platform.robot.v1.RobotService/ResourceNames`;
  const call = `fetch(${JSON.stringify(url)}, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })`;
  const script = `${call}.then((answer) => answer.text()).catch(() => 'cut').then((text) => process.stdout.write(text))`;
  const who = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'], ...who });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  return text;
}

test(`D52 the port of a machine for its module with tcp_mode cuts off another account${isRoot ? '' : ' (another program: not run as root)'}, and the module works through it`, async () => {
  await using machine = await startModuleMachine();
  const module = { name: 'demo', executable_path: await writeTestModule(machine.home), tcp_mode: true };
  machine.configure({ auth, modules: [module] });
  const address = await parentOf(machine);
  expect(await askAsStranger(address)).toBe('cut');
  await machine.logged(/the parent has \d+ resources/);
  await machine.logged('module "demo": a connection to its tcp_mode port was cut: it belongs to a process of user ');
  await using link = connect({ baseUrl: `http://127.0.0.1:${machine.server.serving.port}`, credentials });
  const { modules } = await link.client(RobotService).getMachineStatus({});
  expect(modules).toMatchObject([
    { state: ModuleStatus_State.READY, warning: expect.stringContaining('every account of this computer can call') },
  ]);
});

test('D52 with "tcp_mode_trusted" in the local file, every program is served at that port', async () => {
  await using machine = await startModuleMachine({}, { tcp_mode_trusted: true });
  const module = { name: 'demo', executable_path: await writeTestModule(machine.home), tcp_mode: true };
  machine.configure({ auth, modules: [module] });
  expect(await askAsStranger(await parentOf(machine))).toContain('"data_manager"');
});

test('D52 on its own channel a module has no Shutdown, Tunnel, shell or copies of files of the machine', async () => {
  await using machine = await startModuleMachine();
  const services: JsonObject[] = [{ name: 'sh', api: 'core:service:shell', model: 'builtin' }];
  const modules = [{ name: 'demo', executable_path: await writeTestModule(machine.home) }];
  machine.configure({ auth, modules, services });
  const socketPath = await parentOf(machine);
  await until('the shell', () => machine.statusOf('sh')?.state === 'ready');
  await using parent = connect({ baseUrl: 'http://parent', socketPath });
  const [robot, shell] = [parent.client(RobotService), parent.client(ShellService)];
  const refused = { code: 'permission_denied', message: expect.stringContaining('"no_api_key"') };
  await expect(robot.shutdown({})).rejects.toMatchObject(refused);
  await expect(first(robot.tunnel(one({ destinationPort: 22 })))).rejects.toMatchObject(refused);
  await expect(first(shell.shell(one({ name: 'sh', dataIn: 'id\n' })))).rejects.toMatchObject(refused);
  await expect(first(shell.copyFilesToMachine(one(toMachine)))).rejects.toMatchObject(refused);
  await expect(first(shell.copyFilesFromMachine(one(fromMachine)))).rejects.toMatchObject(refused);
  const status = await shell.getStatus({ name: 'sh' }).catch((caught: { code: string }) => caught.code);
  expect(status).not.toBe('permission_denied');

  const ours = {} as Resource;
  const ofOther = { forward: {} } as unknown as Resource;
  const call = { method: '/platform.service.shell.v1.ShellService/Shell', principal: { entity: 'm', module: 'm' } };
  expect(() => requireResourceForCaller(call, ours)).toThrow('PLATFORM_API_KEY');
  expect(() => requireResourceForCaller(call, ofOther)).not.toThrow();
});

const toMachine = { request: { case: 'metadata', value: { name: 'sh', sourceType: 1, destination: 'x' } } } as const;
const fromMachine = { request: { case: 'metadata' as const, value: { name: 'sh', paths: ['/etc/shadow'] } } };

async function* one<T>(message: T): AsyncGenerator<T> {
  yield message;
}

async function first(answers: AsyncIterable<unknown>): Promise<unknown> {
  for await (const answer of answers) return answer;
  return undefined;
}

test('D52 where it cannot be told whose a connection is, tcp_mode needs a machine without keys, or tcp_mode_trusted', async () => {
  await using directory = await temporaryDirectory();
  let isOpen = true;
  const told: string[] = [];
  const deps = (isTrusted: boolean, name: string): ParentPortDeps => ({
    ...{ module: 'm', socketPath: directory.file(name), isTrusted, isOpen: () => isOpen },
    owners: { strangerOf: async () => 'it is nobody’s', whyUntold: async () => 'this system is plan9' },
    create: (authenticate, port) =>
      createRpcServer({
        ...{ services: [], authenticate, open: [], log: silentLog, ...(port?.admit && { admit: port.admit }) },
        fallback: (_request, response) => void response.end('reached'),
      }),
    close: (server) => server.close({ graceMs: 0 }),
    clock: systemClock,
    log: createLog((_level, _logger, message) => told.push(message)),
  });
  const leader = { pid: process.pid, started: '1' };
  const reach = (address: string): Promise<string> =>
    fetch(`http://${address}`, { headers: { connection: 'close' } })
      .then((answer) => answer.text())
      .catch(() => 'cut');

  await using port = await openParentPort(deps(false, 'a'));
  const address = await port.tcpAddress(leader);
  expect(await reach(address)).toBe('reached');
  isOpen = false;
  expect(await reach(address)).toBe('cut');
  await expect(port.tcpAddress(leader)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(/this system is plan9.*"tcp_mode_trusted": true in the file of -config/),
  });
  await using trusted = await openParentPort(deps(true, 'b'));
  expect(await reach(await trusted.tcpAddress(leader))).toBe('reached');
  expect(told).toEqual([]);
});
