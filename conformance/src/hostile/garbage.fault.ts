/**
 * Garbage on the ports, links and module sockets of a real cloud and a real machine-server, from processes of their own, beside a canary that
 * asks every 100 ms and a ledger of uploads. Tunnels of machines and the links of our own clients: `packages/rpc/src/link/hostile-servers.test.ts`.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import { connect } from '@platform/rpc/client';
import { openCloud } from '@platform/sdk/cloud';
import {
  faultProgress,
  processTree,
  proportionalBytes,
  reportFault,
  spawnChild,
  temporaryDirectory,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { writeProgram } from '../../../apps/machine-server/src/testing/modules/write-module.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { cloudCalls } from '../faults/canary.ts';
import { startMachine as startLocalMachine } from '../machine/start-machine.ts';
import { startMachine } from '../remote/start-machine.ts';
import { startCloud } from '../start-cloud.ts';
import type { Door } from './garbage-doors.ts';
import type { GarbageTask } from './garbage-process.ts';
import { startLedger } from './ledger.ts';
import { expectShortWaits, operationCalls, startWaits, type WaitFigures, type Waits } from './waits.ts';

const { garbage, garbageFrom, longestWaitMs } = readFaultSettings();
const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
const attacker = fileURLToPath(new URL('./garbage-process.ts', import.meta.url));
const moduleProgram = fileURLToPath(new URL('./garbage-module-process.ts', import.meta.url));
/** How many kinds are sent between two measurements. */
const inOneWave = 200;
/** Growth beyond what the first waves explain would go on. */
const mostGrowth = 256 * 1024 * 1024;

/** Connections that the run itself opens meanwhile; one that garbage leaves behind would be left hundreds of times. */
const mostOwnSockets = 8;

interface Attacked {
  readonly door: Door;
  readonly atOnce: number;
}

interface Figures extends WaitFigures {
  readonly outcomes: Record<string, Record<string, number>>;
  /** Bytes since the first waves. */
  readonly growth: number;
  /** Connections of the process that are left at the end. */
  readonly left: number;
}

/** Sends the kinds to each door, in waves, all doors at once. */
async function attackAll(
  doors: Readonly<Record<string, Attacked>>,
  { waits, pid, progress }: { waits: Waits; pid: number; progress: string },
): Promise<Figures> {
  const outcomes: Record<string, Record<string, number>> = {};
  const before = openSockets(pid);
  await using stack = new AsyncDisposableStack();
  const attackers = Object.entries(doors).map(([name, { door, atOnce }]) => {
    const child = stack.use(spawnChild(process.execPath, [...flags, attacker]));
    const all: Record<string, number> = {};
    outcomes[name] = all;
    let waves = 0;
    const strike = async (from: number, to: number): Promise<void> => {
      const wave = waves++;
      child.writeLine({ door, from, to, atOnce } satisfies GarbageTask);
      await child.waitForLine((line) => line === child.lines[wave]);
      add(all, child.lines[wave]?.['outcomes'] as Record<string, number>);
    };
    return strike;
  });
  // The start of the attackers needs the processors, too.
  await Promise.all(attackers.map((strike) => strike(0, 0)));
  await waits.discard();
  let [held, growth] = [0, 0];
  const end = garbageFrom + garbage;
  for (let from = garbageFrom; from < end; from += inOneWave) {
    const to = Math.min(end, from + inOneWave);
    await Promise.all(attackers.map((strike) => strike(from, to)));
    await waits.note(`kinds ${from} to ${to}`);
    const bytes = processTree(pid).reduce((sum, each) => sum + proportionalBytes(each), 0);
    // The known kinds contain the largest.
    if (from < 800) held = Math.max(held, bytes);
    growth = Math.max(growth, bytes - held);
    faultProgress(progress, to - garbageFrom, garbage);
  }
  await stack.disposeAsync();
  // A closed session may keep its connection for 60 s of silence.
  await expect.poll(() => openSockets(pid), { timeout: 150_000 }).toBeLessThanOrEqual(before + mostOwnSockets);
  return { ...waits.figures, outcomes, growth, left: openSockets(pid) - before };
}

function add(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, times] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + times;
}

function openSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const isSocket = (name: string): boolean => {
    try {
      return readlinkSync(join(folder, name)).startsWith('socket:');
    } catch {
      // It was closed meanwhile.
      return false;
    }
  };
  return readdirSync(folder).filter(isSocket).length;
}

function expectNobodyNoticed(figures: Figures): void {
  expect(figures.failures).toEqual({});
  expect(figures.growth).toBeLessThanOrEqual(mostGrowth);
  expectShortWaits(figures, longestWaitMs);
}

test('garbage of every kind on the port of a cloud and on the links of machines stops and delays nobody; no reading is lost or doubled', async () => {
  await using cloud = await startCloud();
  const { url, keyId, key, locationId } = cloud;
  await using _machine = await startMachine(cloud, url);
  await using client = openCloud({ url, keyId, key });
  await using owner = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const { newRobot, getRobotParts } = owner.client(AppService);
  const newPart = async (name: string): Promise<{ id: string; secret: string }> => {
    const { id: robotId } = await newRobot({ name, location: locationId });
    const [part] = (await getRobotParts({ robotId })).parts;
    return { id: part?.id ?? '', secret: part?.secret ?? '' };
  };
  const port = { host: '127.0.0.1', port: Number(new URL(url).port) };
  const links: Record<string, Attacked> = {};
  for (let number = 1; number <= 4; number++) {
    const part = await newPart(`hostile-${number}`);
    links[`link ${number}`] = { door: { kind: 'link', url, part, keyId, key }, atOnce: 1 };
  }
  await using waits = await startWaits({ url, calls: await cloudCalls(cloud), pid: cloud.pid });
  await using ledger = startLedger(cloud);
  const doors = { port: { door: { kind: 'clients', at: port }, atOnce: 4 }, ...links } satisfies Record<
    string,
    Attacked
  >;
  const figures = await attackAll(doors, {
    waits,
    pid: cloud.pid,
    progress: 'kinds of garbage for the cloud',
  });
  const stored = await ledger.finish(client);
  reportFault('garbageToCloud', { ...figures, ...stored, errors: cloud.logged().split('\n').length - 1 });
  expectNobodyNoticed(figures);
  expect(stored).toMatchObject({ lost: 0, doubled: 0 });
  expect(cloud.logged()).toBe('');
});

test('garbage of every kind on the port and the module sockets of a machine-server stops and delays nobody', async () => {
  const script = `exec '${process.execPath}' ${flags.join(' ')} '${moduleProgram}' "$GARBAGE_FILE" "$@"`;
  await using home = await temporaryDirectory('garbage-');
  const file = home.file('garbage.json');
  const modules = [
    {
      name: 'hostile',
      executable_path: await writeProgram(home.path, 'module.sh', script),
      env: { GARBAGE_FILE: file },
    },
  ];
  const components = [
    { name: 'widget', api: 'core:component:generic', model: 'acme:demo:widget' },
    { name: 'it', api: 'core:component:generic', model: 'core:builtin:fake' },
  ];
  await using machine = await startLocalMachine({ modules, components });
  const { url, process: child, target } = machine;
  await using link = connect({ baseUrl: url });
  const generic = link.client(GenericService);
  await expect.poll(() => generic.doCommand({ name: 'widget', command: {} }).then(() => 'ok', String)).toBe('ok');
  const { parentAddress } = JSON.parse(readFileSync(file, 'utf8'));
  await using waits = await startWaits({ url, calls: operationCalls, pid: child.pid });
  const [host = '', port] = target.split(':');
  const doors = {
    port: { door: { kind: 'clients', at: { host, port: Number(port) } }, atOnce: 4 },
    'socket for modules': { door: { kind: 'clients', at: { path: parentAddress } }, atOnce: 4 },
    'socket of a module': { door: { kind: 'component', url, name: 'widget' }, atOnce: 1 },
  } satisfies Record<string, Attacked>;
  const figures = await attackAll(doors, {
    waits,
    pid: child.pid,
    progress: 'kinds of garbage for the machine-server',
  });
  const { kinds } = JSON.parse(readFileSync(file, 'utf8'));
  reportFault('garbageToMachineServer', { ...figures, kindsOfModule: kinds });
  expectNobodyNoticed(figures);
  expect(await generic.doCommand({ name: 'it', command: { a: 1 } })).toMatchObject({ result: { a: 1 } });
});
