/**
 * The side of the watchdog that runs in a worker thread: ends the process when the event loop of the main thread used processor time for
 * 10 s without a turn.
 *
 * Only the main thread's own processor time counts, so a process that is stopped, suspended or starved is left alone, as is one that
 * waits for a disk. Nothing is watched before the first turn, nor while the main thread says so, as under a debugger.
 */
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { systemClock } from '../../async/clock.ts';
import { jsonLine } from '../../log.ts';
import { SharedTurns } from './shared-turns.ts';

export interface WatchSetup {
  /** Of the main thread's SharedTurns. */
  readonly turns: SharedArrayBuffer;
  /** Each end is appended as a line: `StuckEnd`. */
  readonly endsFile: string;
  /** Processor time that one turn may take. Default 10 s. */
  readonly maxTurnMs?: number;
  /** How often that is checked. Default 1 s. */
  readonly checkMs?: number;
  /** How long the main thread has to show its stack before its end; native code that runs longer leaves none. Default 20 s. */
  readonly stackMs?: number;
}

/** A line of the file of ends. */
export interface StuckEnd {
  /** Wall clock, ms. */
  readonly atMs: number;
  /** The call that held the loop; absent: it was none, or is unknown. */
  readonly call?: StuckCall;
}

export interface StuckCall {
  readonly method: string;
  readonly caller: string;
}

/** Name of a function of the main thread's global object that returns the current call as the JSON of a StuckCall. */
export const currentCallName = 'platformCurrentCall';

const usual = { maxTurnMs: 10_000, checkMs: 1_000, stackMs: 20_000 };

export function watchMainThread(setup: WatchSetup): void {
  const { maxTurnMs, checkMs, stackMs, endsFile } = { ...usual, ...setup };
  const turns = new SharedTurns(setup.turns);
  let seen = 0;
  let usedMs = 0;
  const watching = systemClock.every(checkMs, () => {
    const now = turns.turns;
    if (now !== seen) [seen, usedMs] = [now, mainThreadMs()];
    else if (turns.isWatched && mainThreadMs() - usedMs >= maxTurnMs) {
      watching[Symbol.dispose]();
      const kill = (): void => void process.kill(process.pid, 'SIGKILL');
      explainEnd(turns, { maxTurnMs, stackMs, endsFile }).then(kill, kill);
    }
  });
}

/** Says why. */
async function explainEnd(
  turns: SharedTurns,
  { maxTurnMs, stackMs, endsFile }: { maxTurnMs: number; stackMs: number; endsFile: string },
): Promise<void> {
  // Loaded only now, because it costs memory.
  const { takeMainStack } = await import('./take-stack.ts');
  const stack = await takeMainStack(`globalThis.${currentCallName}?.()`, stackMs);
  const call = callOf(stack === undefined ? turns.recentCall() : stack.value);
  const message = `the event loop used ${maxTurnMs / 1_000} s of processor time without a turn, so nobody was answered; ending the process`;
  const fields = { ...call, stack: stack?.frames ?? 'none: the process is in native code' };
  const atMs = systemClock.now();
  say(() => writeSync(2, jsonLine({ timeMs: atMs, level: 'error', logger: 'watchdog', message, fields })));
  const end: StuckEnd = { atMs, ...(call && { call }) };
  say(() => appendFileSync(endsFile, `${JSON.stringify(end)}\n`, { mode: 0o600 }));
}

/** A full disk or a reader that is gone must not keep the process alive. */
function say(write: () => void): void {
  try {
    write();
  } catch {
    // There is nobody left to tell.
  }
}

function callOf(text: string | undefined): StuckCall | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    if (typeof value !== 'object' || value === null) return undefined;
    const { method, caller } = value as Partial<StuckCall>;
    return typeof method === 'string' && typeof caller === 'string' ? { method, caller } : undefined;
  } catch {
    return undefined;
  }
}

/** Linux counts in hundredths of a second. */
const tickMs = 10;

/** Processor time of the main thread. Where the system does not tell it: of the whole process, which is never less. */
function mainThreadMs(): number {
  try {
    // The second field is the name of the program, in parentheses, and may contain spaces.
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}
