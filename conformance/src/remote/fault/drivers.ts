/** Programs and a page of a real browser that drive motors of one machine, and are killed. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ChildProcess, processTree, spawnChild } from '@platform/testkit';
import { connecting, openSdkPage } from '../../webrtc/start-chromium-machine.ts';
import type { MotorWatch } from './motor-watch.ts';
import type { TurnMotorsLine, TurnMotorsOptions } from './turn-motors.ts';

type Reached = Omit<TurnMotorsOptions, 'motors'>;

/** What drivers have done together. */
export class DriverCounts {
  connected = 0;
  failed = 0;
  /** SetPower by motor. */
  readonly sent = new Map<string, number>();
  readonly acknowledged = new Map<string, number>();
  /** Why connections failed, and how often. */
  readonly reasons = new Map<string, number>();

  count(of: Map<string, number>, key: string): void {
    of.set(key, (of.get(key) ?? 0) + 1);
  }
}

export interface Driver extends AsyncDisposable {
  /** kill -9 of it or of its engine; another takes its place. */
  kill(what: 'program' | 'engine'): Promise<void>;
}

const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

/** A program that is started again when it ends. */
export function startProgram(options: TurnMotorsOptions, counts: DriverCounts, watch: MotorWatch): Driver {
  const entry = fileURLToPath(new URL('./turn-motors.ts', import.meta.url));
  const take = (line: TurnMotorsLine): void => {
    const { event, motor, atMs } = line;
    if (event === 'alive') watch.alive(motor, atMs);
    else if (event === 'call') counts.count(counts.sent, motor);
    else if (event === 'done') counts.count(counts.acknowledged, motor);
    else if (event === 'connected') counts.connected++;
    else {
      counts.failed++;
      counts.count(counts.reasons, line.reason ?? '');
    }
  };
  let taken = 0;
  let child: ChildProcess;
  const takeNew = (): void => {
    for (const line of child.lines.slice(taken)) take(line as unknown as TurnMotorsLine);
    taken = child.lines.length;
  };
  const start = (): void => {
    child = spawnChild(process.execPath, [...nodeFlags, entry, JSON.stringify(options)]);
    taken = 0;
  };
  start();
  const timer = setInterval(takeNew, 50);
  const end = async (): Promise<void> => {
    await child.kill();
    takeNew();
  };
  return {
    async kill(what) {
      if (what === 'engine') {
        for (const pid of processTree(child.pid).slice(1)) killNow(pid);
        return;
      }
      await end();
      start();
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await end();
    },
  };
}

/**
 * The public client in a real browser turns a motor, and the browser is killed. The session is that of the public client.
 *
 * @returns whether the motor turned before
 */
export async function killBrowser(
  reached: Reached,
  motor: string,
  counts: DriverCounts,
  watch: MotorWatch,
): Promise<boolean> {
  const others = new Set(processTree(process.pid));
  await using page = await openSdkPage();
  const timer = setInterval(() => watch.alive(motor, Date.now()), 100);
  try {
    const cloud = { url: reached.url, keyId: reached.keyId, key: reached.key };
    await page.run(`
      ${connecting({ cloud, host: reached.host } as never)}
      await robot.sessionManager.getSessionMetadata();`);
    counts.connected++;
    counts.count(counts.sent, motor);
    await page.run(`await new VIAM.MotorClient(robot, '${motor}').setPower(0.5);`);
    counts.count(counts.acknowledged, motor);
    await sleep(500);
    return true;
  } catch {
    // The machine or the cloud was killed meanwhile.
    counts.failed++;
    return false;
  } finally {
    clearInterval(timer);
    watch.alive(motor, Date.now());
    for (const pid of processTree(process.pid)) if (!others.has(pid) && isBrowser(pid)) killNow(pid);
  }
}

function isBrowser(pid: number): boolean {
  try {
    return /chrom/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}

/** Without effect on a process that has just ended. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
