/**
 * Keeps the tabular child running.
 *
 * States: starting (preparing, forked, init sent) → running (it has reported) → dead → starting … → stopped. Messages of a dead child are
 * ignored: one that was in transit when it died could name files that the next start removes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { addAbortListener } from 'node:events';
import { backoffMs, type ClockAndLog, errorText, siblingEntry } from '@platform/base';
import type { FromChild, ToChild } from '../process/messages.ts';

export interface ChildDeps extends ClockAndLog {
  /** Undefined: the one beside this program. */
  readonly program?: URL | undefined;
  /** Runs while there is no child; returns the first message for the next child. */
  readonly prepare: () => Promise<ToChild>;
  readonly onMessage: (message: FromChild) => void;
  /** Called when the child died; its open queries will not be answered. */
  readonly onDeath: () => void;
}

export interface Child extends AsyncDisposable {
  readonly state: 'starting' | 'running' | 'restarting' | 'stopped';
  readonly processId: number | undefined;
  /** How often the child has died since the start. */
  readonly restarts: number;
  /** Resolves when a child can receive messages; rejects when the signal is aborted first. */
  ready(signal: AbortSignal): Promise<void>;
  /** Does nothing while no child is running. */
  send(message: ToChild): void;
  /** Kills the child as a crash would. */
  kill(): void;
}

export function startChild(deps: ChildDeps): Child {
  const { prepare, onMessage, onDeath, clock, log } = deps;
  const program = deps.program ?? siblingEntry(import.meta.url, '../process/tabular');
  const stop = new AbortController();
  let current: ChildProcess | undefined;
  let reported = false;
  let restarts = 0;
  let available = Promise.withResolvers<void>();

  const runOnce = async (): Promise<void> => {
    const init = await prepare();
    if (stop.signal.aborted) return;
    const child = fork(program, {
      serialization: 'advanced',
      // Standard output is reserved for the cloud's event lines.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: process.execArgv,
    });
    current = child;
    const ended = new Promise<string>((resolve) => {
      child.on('message', (message) => {
        if (current !== child) return;
        reported = true;
        onMessage(message as FromChild);
      });
      child.once('error', (error) => resolve(errorText(error)));
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    child.send(init, () => {});
    available.resolve();
    const reason = await ended;
    current = undefined;
    reported = false;
    available = Promise.withResolvers<void>();
    onDeath();
    if (stop.signal.aborted) return;
    restarts++;
    log.error('the tabular process died and is being restarted; it replays unsealed rows', {
      reason,
      processId: child.pid ?? 0,
    });
  };

  const run = async (): Promise<void> => {
    let quickDeaths = 0;
    while (!stop.signal.aborted) {
      const startedMs = clock.monotonic();
      await runOnce().catch((caught: unknown) =>
        log.error('the tabular process could not be started', { error: errorText(caught) }),
      );
      if (stop.signal.aborted) return;
      quickDeaths = clock.monotonic() - startedMs < 10_000 ? quickDeaths + 1 : 0;
      // A single crash should go unnoticed; repeated crashes must not use up the machine's resources.
      if (quickDeaths > 1)
        await clock.sleep(backoffMs(quickDeaths - 1, { firstMs: 50, maxMs: 5_000 }), stop.signal).catch(() => {});
    }
  };

  const finished = run();
  return {
    get state() {
      if (stop.signal.aborted) return 'stopped';
      if (current === undefined) return restarts === 0 ? 'starting' : 'restarting';
      return reported ? 'running' : 'starting';
    },
    get processId() {
      return current?.pid;
    },
    get restarts() {
      return restarts;
    },
    async ready(signal) {
      signal.throwIfAborted();
      const { promise: ended, reject } = Promise.withResolvers<never>();
      using _listener = addAbortListener(signal, () => reject(signal.reason));
      await Promise.race([available.promise, ended]);
    },
    send(message) {
      if (current?.connected) current.send(message, () => {});
    },
    kill() {
      current?.kill('SIGKILL');
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      // The child holds nothing that must be saved: unsealed rows are replayed.
      current?.kill('SIGKILL');
      await finished;
    },
  };
}
