/**
 * D48: hostile requests, four at once and from processes of their own, to a cloud and a machine-server, beside a canary that asks each 100
 * ms and a ledger of uploads.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { openCloud } from '@platform/sdk/cloud';
import { faultProgress, processTree, proportionalBytes, reportFault, seededRandom } from '@platform/testkit';
import { expect, test } from 'vitest';
import { services } from '../access/matrix.ts';
import { openCommandLine } from '../cli/command-line.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { cloudCalls } from '../faults/canary.ts';
import { startMachine as startLocalMachine } from '../machine/start-machine.ts';
import { startMachine } from '../remote/start-machine.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type Attack, gatherMethods, machineServices } from './attack.ts';
import { type Attackers, startAttackers } from './attackers.ts';
import { startLedger } from './ledger.ts';
import { knownAttacks, randomAttack, type Target } from './plan.ts';
import { expectShortWaits, operationCalls, startWaits, type WaitFigures, type Waits } from './waits.ts';

const { requests, seed, longestWaitMs } = readFaultSettings();
const atOnce = 4;
/** For requests of 1 MiB and more: growth of memory, as a multiple of what was sent. */
const mostMemory = 16;
const mebibyte = 1024 * 1024;
/** Methods that change what the run itself needs, and streams that stay open. */
const spared =
  /Shutdown|RestartModule|DeleteOrganization|DeleteRobot|DeleteLocation|DeleteKey|RevokeKey|RotateKey|Rotate|Watch$|Tail|StreamEvents/;

const components = ['generic', 'sensor', 'motor', 'camera'].map((type) => ({
  ...{ name: type, api: `core:component:${type}`, model: 'core:builtin:fake' },
}));

interface Figures extends WaitFigures {
  readonly memoryRatio: number;
  readonly heaviest: string;
  readonly outcomes: Record<string, number>;
  readonly sent: number;
}

/** Strikes with four at a time, and measures what the others notice. */
async function strikeAll(
  attackers: Attackers,
  attacks: readonly Attack[],
  { waits, pids, progress }: { waits: Waits; pids: () => number[]; progress: string },
): Promise<Figures> {
  const outcomes: Record<string, number> = {};
  let [memoryRatio, heaviest, sent] = [0, '', 0];
  await waits.discard();
  for (let at = 0; at < attacks.length; at += atOnce) {
    const wave = attacks.slice(at, at + atOnce);
    using memory = watchMemory(pids);
    const struck = await attackers.strike(wave);
    const named = struck.map(({ attack, outcome }) => `${nameOf(attack)} → ${outcome}`).join('; ');
    await waits.note(named);
    // None of the methods has what makes the shape.
    if (struck.length === 0) continue;
    const bytes = struck.reduce((sum, { attack }) => sum + attack.bytes, 0);
    const ratio = memory.growth / bytes;
    if (struck.every(({ attack }) => attack.bytes >= mebibyte) && ratio > memoryRatio)
      [memoryRatio, heaviest] = [ratio, named];
    for (const { outcome } of struck) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    sent += struck.length;
    faultProgress(progress, at + wave.length, attacks.length);
  }
  return { ...waits.figures, outcomes, memoryRatio, heaviest, sent };
}

function nameOf({ method, path = method, shape, codec, bytes, headers }: Attack): string {
  const who = headers['authorization'] === undefined ? 'anonymous' : 'signed in';
  return `${path} ${shape} ${codec} ${(bytes / mebibyte).toFixed(1)} MiB ${who}`;
}

/** The growth of a group of processes until it is disposed. */
function watchMemory(pids: () => number[]): Disposable & { readonly growth: number } {
  const held = (): number => {
    try {
      return pids().reduce((sum, pid) => sum + proportionalBytes(pid), 0);
    } catch {
      // One of them has just ended.
      return 0;
    }
  };
  const before = held();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, held());
  }, 100);
  return {
    get growth() {
      return Math.max(peak, held()) - before;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

async function tokenOf(url: string, entity: string, type: string, payload: string): Promise<string> {
  await using link = connect({ baseUrl: url });
  const { accessToken } = await link.client(AuthService).authenticate({ entity, credentials: { type, payload } });
  return `Bearer ${accessToken}`;
}

async function targetOf(cloud: CloudProcess): Promise<Target> {
  const { url, keyId, key, partId, partSecret } = cloud;
  const owner = { authorization: await tokenOf(url, keyId, 'api-key', key) };
  const machine = { authorization: await tokenOf(url, partId, 'robot-secret', partSecret) };
  const methods = [...gatherMethods(services).keys()].filter((name) => !spared.test(name));
  return { url, methods, callers: [{}, owner, machine] };
}

function expectNobodyNoticed(figures: Figures): void {
  expect(Object.keys(figures.outcomes).filter((outcome) => outcome.startsWith('failed'))).toEqual([]);
  expect(figures.failures).toEqual({});
  expectShortWaits(figures, longestWaitMs);
  if (longestWaitMs === Number.POSITIVE_INFINITY) return;
  expect(figures.memoryRatio, figures.heaviest).toBeLessThanOrEqual(mostMemory);
}

test('D48 no request to the cloud, and none that it passes on, delays others, whoever sends it; no reading is lost or doubled', async () => {
  await using cloud = await startCloud();
  const { url, keyId, key, partId } = cloud;
  await using cli = await openCommandLine({ PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key });
  await cli.ok(['config', 'set', partId, '-', '--yes'], { input: JSON.stringify({ components }) });
  await using _machine = await startMachine(cloud, url);
  await using client = openCloud({ url, keyId, key });
  while ((await client.fleet.getPartStatus({ partId })).linkSince === undefined) await sleep(50);
  await using attackers = startAttackers(atOnce);
  await using waits = await startWaits({ url, calls: await cloudCalls(cloud), pid: cloud.pid });
  await using ledger = startLedger(cloud);

  const random = seededRandom(seed);
  const own = await targetOf(cloud);
  const toMachine = { 'platform-part': partId };
  const relayed: Target = {
    ...{ url, methods: [...gatherMethods(machineServices).keys()].filter((name) => !spared.test(name)) },
    callers: own.callers.map((headers) => ({ ...headers, ...toMachine })),
  };
  const attacks = [
    ...knownAttacks(own, toMachine),
    ...Array.from({ length: requests }, () => randomAttack(random() < 0.75 ? own : relayed, random)),
  ];
  const figures = await strikeAll(attackers, attacks, {
    ...{ waits, pids: () => processTree(cloud.pid), progress: 'requests to the cloud' },
  });
  const stored = await ledger.finish(client);
  reportFault('cloud', { ...figures, ...stored });
  expectNobodyNoticed(figures);
  expect(stored).toMatchObject({ lost: 0, doubled: 0 });
  expect(stored.acknowledged).toBeGreaterThan(0);
});

test('D48 no request to a machine-server delays others', async () => {
  await using machine = await startLocalMachine({ components });
  const { url, process: child } = machine;
  await using attackers = startAttackers(atOnce);
  await using waits = await startWaits({ url, calls: operationCalls, pid: child.pid });
  const random = seededRandom(seed);
  const methods = [...gatherMethods(machineServices).keys()].filter((name) => !spared.test(name));
  const command = 'platform.component.generic.v1.GenericService/DoCommand';
  const known = (['map entries', 'unknown fields', 'unknown levels', 'levels'] as const).map((shape) => ({
    ...{ url, method: command, shape, codec: 'gRPC', bytes: 16 * mebibyte, headers: {} },
  }));
  const attacks = [
    ...known,
    ...Array.from({ length: Math.ceil(requests / 2) }, () => randomAttack({ url, methods, callers: [{}] }, random)),
  ];
  const figures = await strikeAll(attackers, attacks, {
    ...{ waits, pids: () => processTree(child.pid), progress: 'requests to the machine-server' },
  });
  reportFault('machineServer', { ...figures });
  expectNobodyNoticed(figures);
});
