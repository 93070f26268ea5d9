/**
 * Connections over WebRTC to one machine while everything is killed at random: the programs and browsers that drive its motors, their
 * engines, that of the machine, the machine-server, and the cloud. Runs only in `npm run fault -- remote`.
 *
 * The first four fifths of the connections are with kills; the last fifth, without, shows that nothing grows.
 */
import { readdirSync } from 'node:fs';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { faultProgress, measureLag, processTree, proportionalBytes, reportFault } from '@platform/testkit';
import { expect, test } from 'vitest';
import { linkOfOwner, pauseMs, seededRandom } from '../../crash/cloud-under-load.ts';
import { readFaultSettings } from '../../crash/fault-settings.ts';
import { faultsOf, settleWorld, summaryOf } from '../../ledger/check-world.ts';
import { LedgerWorld } from '../../ledger/ledger-world.ts';
import { auditedCalls } from './audited-calls.ts';
import { type Driver, DriverCounts, killBrowser, killNow, startProgram } from './drivers.ts';
import { MotorWatch } from './motor-watch.ts';

const { connections, seed } = readFaultSettings();
const programs = 2;
const motorsEach = Math.min(12, Math.max(2, Math.ceil(connections / 40)));
const pages = 5;
/** Of sessions. */
const windowMs = 2_000;
/** Between the end of a window and the machine's look at it, on a busy computer; its lag is added. */
const slackMs = 1_000;
const reportedWithinMs = 120_000;
/** Of a process, during the last connections. */
const mostGrowthBytes = 32e6;

const kinds = ['browser', 'program', 'engine of a program', 'engine', 'machine-server', 'cloud'] as const;
type Kind = (typeof kinds)[number];

const motorsOf = (program: number): string[] =>
  Array.from({ length: motorsEach }, (_, index) => `wheel-${program}-${index}`);
const pageMotors = Array.from({ length: pages }, (_, index) => `page-${index}`);
const motors = [...Array.from({ length: programs }, (_, program) => motorsOf(program)).flat(), ...pageMotors];
const motorsConfigured = motors.map((name) => ({ name, api: 'core:component:motor', model: 'core:builtin:fake' }));

interface Usage {
  readonly bytes: number;
  readonly files: number;
}

function usageOf(pid: number): Usage {
  return { bytes: proportionalBytes(pid), files: readdirSync(`/proc/${pid}/fd`).length };
}

test(
  `D40 ${connections} connections with kills: motors stop with their drivers, no reading is lost, no audit record is lost or doubled, nothing grows`,
  async () => {
    await using lag = await measureLag();
    await using world = await LedgerWorld.start([{ name: 'fast', hz: 20 }], {}, { others: motorsConfigured });
    world.isKept = true;
    const { cloud } = world;
    await world.startMachine();
    const owner = { keyId: String(cloud.ready['keyId']), key: String(cloud.ready['key']) };
    await using link = linkOfOwner(cloud);
    const app = link.client(AppService);
    const { part } = await app.getRobotPart({ id: cloud.demo.partId });
    // The machine's own port takes no key of the whole organization.
    const on = { resourceType: 'robot', resourceId: part?.robot ?? '' };
    const role = { authorizationType: 'role', authorizationId: 'robot_operator', identityType: 'api-key' };
    const watcher = await app.createKey({ name: 'watcher', authorizations: [{ ...role, ...on }] });
    const reached = { url: cloud.url, ...owner, host: part?.fqdn ?? '' };
    const counts = new DriverCounts();
    await using watch = new MotorWatch({
      motors,
      port: () => world.machinePort,
      credentials: { entity: watcher.id, payload: watcher.key },
    });
    await using drivers = new AsyncDisposableStack();
    const running: Driver[] = Array.from({ length: programs }, (_, program) =>
      drivers.use(startProgram({ ...reached, motors: motorsOf(program) }, counts, watch)),
    );
    const random = seededRandom(seed);
    const killed: Record<string, number> = {};
    const engineOf = (): number => processTree(world.machinePid)[1] ?? -1;
    const act: Record<Kind, () => Promise<unknown>> = {
      browser: () => killBrowser(reached, pageMotors[(killed['browser'] ?? 0) % pages] ?? '', counts, watch),
      program: async () => running[Math.floor(random(0, programs))]?.kill('program'),
      'engine of a program': async () => running[Math.floor(random(0, programs))]?.kill('engine'),
      engine: async () => killNow(engineOf()),
      async 'machine-server'() {
        await world.killMachine();
        await pauseMs(random(0, 1_000));
        await world.startMachine();
      },
      async cloud() {
        await cloud.kill();
        await pauseMs(random(0, 1_000));
        await cloud.start();
      },
    };
    const reach = async (wanted: number): Promise<void> => {
      for (; counts.connected < wanted; await pauseMs(100)) faultProgress('connections', counts.connected, connections);
    };
    const kills = Math.max(kinds.length, Math.floor(connections / 20));
    const withKills = Math.floor(connections * 0.8);
    let order: Kind[] = [];
    for (let kill = 0; kill < kills; kill++) {
      await reach(Math.floor((withKills * (kill + 1)) / (kills + 1)));
      // Each kind as often as every other.
      if (order.length === 0) order = kinds.toSorted(() => random(-1, 1));
      const kind = order.pop() ?? 'cloud';
      await act[kind]();
      killed[kind] = (killed[kind] ?? 0) + 1;
    }
    await reach(withKills + Math.floor(connections * 0.1));
    const processes = { cloud: cloud.pid, machine: world.machinePid, engine: engineOf() };
    const used = (): Record<string, Usage> =>
      Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, usageOf(pid)]));
    const before = used();
    await reach(connections);
    const after = used();
    await drivers.disposeAsync();
    // All windows end.
    await pauseMs(windowMs + slackMs + lag.longestMs);
    const { late, longestMs } = watch.late(windowMs + slackMs + lag.longestMs);

    const sum = (of: ReadonlyMap<string, number>): number => [...of.values()].reduce((all, one) => all + one, 0);
    const audit = () => auditedCalls(cloud, owner, 'MotorService.SetPower');
    let audited = await audit();
    const isLacking = (): boolean =>
      [...counts.acknowledged].some(([motor, count]) => (audited.counts.get(motor) ?? 0) < count);
    for (const fromMs = performance.now(); isLacking() && performance.now() - fromMs < reportedWithinMs; ) {
      await pauseMs(1_000);
      audited = await audit();
    }
    const wrong = motors.flatMap((motor) => {
      const [sent, done] = [counts.sent.get(motor) ?? 0, counts.acknowledged.get(motor) ?? 0];
      const found = audited.counts.get(motor) ?? 0;
      return found < done || found > sent ? [{ motor, sent, acknowledged: done, audited: found }] : [];
    });
    const account = await settleWorld(world, lag);
    const grown = Object.keys(processes).filter(
      (name) => (after[name]?.bytes ?? 0) - (before[name]?.bytes ?? 0) > mostGrowthBytes,
    );
    const faults = { ...faultsOf(world, account), ...(late.length > 0 && { late: late.slice(0, 20) }) };
    reportFault('remote', {
      ...{ seed, lagMs: Math.round(lag.longestMs), connected: counts.connected, failed: counts.failed, killed },
      ...{ longestTurnMs: Math.round(longestMs), turnedWhenAsked: watch.turned, askedMotors: watch.answers },
      calls: { sent: sum(counts.sent), acknowledged: sum(counts.acknowledged), audited: sum(audited.counts) },
      reasons: Object.fromEntries([...counts.reasons].toSorted((a, b) => b[1] - a[1]).slice(0, 5)),
      ...{ records: audited.records, before, after, ...summaryOf(account) },
    });
    world.isKept = Object.keys(faults).length > 0;
    expect({ ...faults, wrong, dropped: audited.dropped, grown }, `FAULT_SEED=${seed}`).toEqual({
      ...{ wrong: [], dropped: 0, grown: [] },
    });
    expect(watch.turned).toBeGreaterThan(0);
  },
  connections * 10_000 + 600_000,
);
