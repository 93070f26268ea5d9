import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { silentLog } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import { type RobotConfig, RobotService } from '@platform/proto/platform/app/v1/robot';
import { GetReadingsRequestSchema } from '@platform/proto/platform/common/v1/common';
import { GetMachineStatusResponseSchema, ResourceStatus_State } from '@platform/proto/platform/robot/v1/robot';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { createRpcServer, serve } from '@platform/rpc/server';
import { type ChildProcess, residentBytes, spawnChild } from '@platform/testkit';
import { scratch } from './cloud/scratch.ts';
import { openUnarySession, type UnarySession } from './cloud/unary-session.ts';
import { percentile } from './figures/statistics.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const many = 1_000;
const few = 10;
const warmUpCalls = 2_000;
const measuredCalls = 5_000;
const statusCalls = 200;
const edits = 10;
/** Longer than the server needs to notice that it is idle. */
const settleMs = 12_000;
const [statusPath, readingsPath] = [
  '/platform.robot.v1.RobotService/GetMachineStatus',
  '/platform.component.sensor.v1.SensorService/GetReadings',
];

/**
 * A machine-server with 1,000 fake sensors: the time from its start until all run, one edit, its status, one call; with ten of them: its
 * memory. For comparison, the start of a bare Node process with an HTTP/2 server, and the same call to that.
 */
export async function measureMachine(): Promise<Readonly<Record<string, number>>> {
  // It runs compiled, as when installed, because TypeScript costs memory and start time.
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the sources could not be compiled');
  const bare = await measureBare();
  const loaded = await measureLoaded();
  const idle = await measureIdleMachine();
  return { ...loaded, ...idle, ...bare, call_above_raw_p50_us: loaded.call_p50_us - bare.raw_call_p50_us };
}

async function measureLoaded() {
  using folder = scratch();
  await using cloud = await startConfigCloud(sensors(many, 0));
  await using machine = startMachine(folder.path, cloud.url);
  const startedMs = performance.now();
  const { port } = await machine.waitForLine(({ msg }) => msg === 'running');
  using session = await openUnarySession(`http://127.0.0.1:${port}`);
  await untilReady(session, many);
  const cold_ms = performance.now() - startedMs;
  const editMs: number[] = [];
  let touched = 0;
  for (let edit = 1; edit <= edits; edit++) {
    const before = await statusOf(session);
    const applied = machine.lines.filter(isApplied).length;
    const fetchedMs = await cloud.set(sensors(many, edit));
    while (machine.lines.filter(isApplied).length === applied) await sleep(1);
    const line = machine.lines.filter(isApplied).at(-1);
    editMs.push(Date.parse(String(line?.['time'])) - fetchedMs);
    const since = new Map(before.map(({ name, lastUpdated }) => [name?.name, lastUpdated && timestampMs(lastUpdated)]));
    const after = await statusOf(session);
    touched = Math.max(
      touched,
      after.filter(({ name, lastUpdated }) => since.get(name?.name) !== (lastUpdated && timestampMs(lastUpdated)))
        .length,
    );
  }
  const status = await timesUs(statusCalls, () => session.call(statusPath, new Uint8Array()));
  const request = toBinary(GetReadingsRequestSchema, create(GetReadingsRequestSchema, { name: 's0' }));
  await timesUs(warmUpCalls, () => session.call(readingsPath, request));
  const call = await timesUs(measuredCalls, () => session.call(readingsPath, request));
  return {
    cold_1000_resources_ms: cold_ms,
    edit_one_of_1000_ms: percentile(editMs, 0.5),
    resources_touched_by_edit: touched,
    status_of_1000_p50_ms: percentile(status, 0.5) / 1_000,
    call_p50_us: percentile(call, 0.5),
    call_p99_us: percentile(call, 0.99),
  };
}

async function measureIdleMachine() {
  using folder = scratch();
  await using cloud = await startConfigCloud(sensors(few, 0));
  await using machine = startMachine(folder.path, cloud.url);
  await machine.waitForLine(({ msg }) => msg === 'running');
  await sleep(settleMs);
  return { idle_rss_with_10_resources_mb: residentBytes(machine.pid) / 1e6 };
}

/** The cost of Node itself: its start, and a call that is answered with the same bytes. */
async function measureBare() {
  using folder = scratch();
  const reading = Buffer.from('0a0a0a016112 0511000000000000f03f'.replaceAll(' ', ''), 'hex').toString('base64');
  const answers = join(folder.path, 'answers.json');
  writeFileSync(answers, JSON.stringify({ [readingsPath]: reading }));
  const entry = fileURLToPath(new URL('./processes/fleet-bare-server.ts', import.meta.url));
  const startedMs = performance.now();
  await using server = spawnChild(process.execPath, [...process.execArgv, entry, answers]);
  const { url } = await server.waitForLine(({ event }) => event === 'ready');
  const raw_start_ms = performance.now() - startedMs;
  using session = await openUnarySession(String(url));
  const request = toBinary(GetReadingsRequestSchema, create(GetReadingsRequestSchema, { name: 's0' }));
  await timesUs(warmUpCalls, () => session.call(readingsPath, request));
  const call = await timesUs(measuredCalls, () => session.call(readingsPath, request));
  return { raw_start_ms, raw_call_p50_us: percentile(call, 0.5) };
}

function startMachine(home: string, url: string): ChildProcess {
  const file = join(home, 'credentials.json');
  const cloud = { id: partId, secret: 's', app_address: url, refresh_interval: '100ms' };
  writeFileSync(file, JSON.stringify({ cloud }));
  return spawnChild(process.execPath, [join(root, 'apps/cli/bin/machine-server.js'), '-config', file], {
    env: { PLATFORM_HOME: home, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
}

/** @param edit changes the attributes of one of them */
function sensors(count: number, edit: number): object {
  const components = Array.from({ length: count }, (_, at) => ({
    ...{ name: `s${at}`, api: 'core:component:sensor', model: 'core:builtin:fake' },
    attributes: { readings: { a: 1, ...(at === count / 2 && { edit }) } },
  }));
  return { components };
}

function isApplied({ msg }: Readonly<Record<string, unknown>>): boolean {
  return msg === 'configuration applied';
}

async function statusOf(session: UnarySession) {
  return fromBinary(GetMachineStatusResponseSchema, await session.call(statusPath, new Uint8Array())).resources;
}

async function untilReady(session: UnarySession, count: number): Promise<void> {
  for (;;) {
    const resources = await statusOf(session);
    if (resources.filter(({ state }) => state === ResourceStatus_State.READY).length === count) return;
  }
}

async function timesUs(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const startedMs = performance.now();
    await call();
    times.push((performance.now() - startedMs) * 1_000);
  }
  return times;
}

interface ConfigCloud extends AsyncDisposable {
  readonly url: string;
  /** @returns resolves with the wall clock ms at which the machine got it */
  set(document: object): Promise<number>;
}

/** The minimal cloud for a machine-server: sign-in, and the configuration that was set last. */
const partId = '11111111-2222-4333-8444-555555555555';

async function startConfigCloud(document: object): Promise<ConfigCloud> {
  const messageOf = (from: object): RobotConfig => toRobotConfig(parse(from).config, { id: partId });
  let config = messageOf(document);
  let fetched = Promise.withResolvers<number>();
  const robot = serve<typeof RobotService, string>(RobotService, {
    config: () => {
      fetched.resolve(Date.now());
      return { config };
    },
    log: () => ({}),
    needsRestart: () => ({}),
  });
  const auth = serve<typeof AuthService, string>(AuthService, { authenticate: () => ({ accessToken: 'token' }) });
  const server = createRpcServer<string>({
    services: [robot, auth],
    authenticate: async () => 'part',
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${port}`,
    set(next) {
      config = messageOf(next);
      fetched = Promise.withResolvers();
      return fetched.promise;
    },
    [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }),
  };
}
