/**
 * Keeps one module running.
 *
 * States: pending (its package is missing) → starting → ready → unhealthy (it ended or could not be started; it is restarted after growing
 * waits, the first time at once) → starting → …; closing (its resources are removed, its process is ended) → gone. After a minute of
 * running, the waits begin again.
 */
import { backoffMs, type Clock, errorText, type Log } from '@platform/base';
import type { Provided } from '../graph/model-table.ts';
import type { ModuleConfig } from './module-config.ts';
import type { ModulesDeps } from './modules-deps.ts';
import { ModuleLines } from './process/module-output.ts';
import { openSocketDirectory } from './process/socket-path.ts';
import { type RunningModule, runModule } from './run-module.ts';

export type ModuleState = 'pending' | 'starting' | 'ready' | 'unhealthy' | 'closing';

export interface ModuleStatus {
  readonly module: ModuleConfig;
  readonly state: ModuleState;
  /** Wall clock ms of the last change of state. */
  readonly since: number;
  /** Why it does not run; during a restart, why it ended. Empty if there is no problem. */
  readonly error: string;
  /** Of the process that runs, or ran last; empty: not known. */
  readonly version: string;
  /** How many times in a row it ended or could not be started. */
  readonly failures: number;
  /** `<api> <model>` of each model that it provides. */
  readonly models: readonly { readonly api: string; readonly model: string }[];
}

const healthyAfterMs = 60_000;
const pendingLookMs = 60_000;

export class ModuleSupervisor implements AsyncDisposable {
  readonly module: ModuleConfig;
  readonly lines: ModuleLines;
  readonly #deps: ModulesDeps;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  /** Ends the current run, or the wait for the next one. */
  #again = new AbortController();
  #status: ModuleStatus;
  #run: RunningModule | undefined;
  /** Why it could not be started, as logged last. */
  #logged = '';
  #over: Promise<void> | undefined;

  constructor(module: ModuleConfig, deps: ModulesDeps) {
    this.module = module;
    this.#deps = deps;
    this.#clock = deps.clock;
    this.#log = deps.log.child(module.name);
    this.lines = new ModuleLines(module.name, this.#log, deps.clock);
    const none = { error: '', version: '', failures: 0, models: [] };
    this.#status = { module, state: 'pending', since: deps.clock.now(), ...none };
  }

  get status(): ModuleStatus {
    return this.#status;
  }

  start(): void {
    this.#provide({ state: 'starting' });
    this.#over = this.#keepRunning();
  }

  /** Restarts the process, whatever its state. */
  restart(): void {
    this.#log.info(`module "${this.module.name}" is restarted on request`);
    this.#set({ failures: 0, error: '' });
    this.#again.abort();
  }

  /** Tells the running process the levels of its resources that have changed. */
  setLevels(): void {
    this.#run?.setLevels();
  }

  /** Checks again whether a pending module can be started. */
  look(): void {
    if (this.#status.state === 'pending') this.#again.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#set({ state: 'closing' });
    await this.#over;
  }

  async #keepRunning(): Promise<void> {
    const { module } = this;
    try {
      await using sockets = await openSocketDirectory(module.name);
      await using parent = await this.#deps.openParent(module.name, sockets.parentPath);
      while (!this.#stop.signal.aborted) {
        const signal = this.#newSignal();
        if (await this.#isMissing(signal)) continue;
        this.#set({ state: 'starting' });
        let run: RunningModule | undefined;
        try {
          const given = { module, deps: this.#deps, sockets, parent, lines: this.lines, log: this.#log, signal };
          run = await runModule(given);
          this.#run = run;
          await this.#ran(run, signal);
        } catch (caught) {
          await this.#failed(`it could not be started: ${errorText(caught)}`, signal);
        } finally {
          this.#run = undefined;
        }
      }
    } catch (caught) {
      this.#set({ state: 'unhealthy', error: errorText(caught) });
      this.#provide({ state: 'failed', reason: errorText(caught) });
      this.#log.error(`module "${module.name}" cannot be started: ${errorText(caught)}`);
    }
  }

  /** Runs until its process ends, or must end. */
  async #ran(run: RunningModule, signal: AbortSignal): Promise<void> {
    const startedMs = this.#clock.monotonic();
    const models = run.models.map(({ api, model }) => ({ api, model }));
    this.#set({ state: 'ready', error: '', version: run.version, models });
    this.#provide({ state: 'ready', models: run.models });
    this.#log.info(`module "${this.module.name}" is ready`, { models: models.map(({ model }) => model) });
    const how = await Promise.race([run.ended, aborted(signal)]);
    if (this.#clock.monotonic() - startedMs >= healthyAfterMs) this.#set({ failures: 0 });
    if (how === undefined) {
      this.#provide({ state: 'starting' });
      await run.stop();
      return;
    }
    // The graph learns of it first: its resources must not be called or awaited.
    const failed = this.#failed(how, signal, true);
    await run.stop();
    await failed;
  }

  /** Logs the reason, and waits before the next start. */
  async #failed(reason: string, signal: AbortSignal, wasReady = false): Promise<void> {
    if (signal.aborted) return;
    const failures = this.#status.failures + 1;
    const waits = wasReady ? failures - 1 : failures;
    const waitMs = waits === 0 ? 0 : backoffMs(waits, { firstMs: 1_000, maxMs: 60_000 });
    this.#set({ state: 'unhealthy', error: reason, failures, models: [] });
    this.#provide({ state: 'failed', reason });
    const fields = { failures, waitMs: Math.round(waitMs) };
    const level = reason === this.#logged ? 'debug' : 'error';
    this.#log[level](`module "${this.module.name}": ${reason}; starting it again`, fields);
    // Each end of a process that was ready is an event of its own.
    this.#logged = wasReady ? '' : reason;
    await this.#clock.sleep(waitMs, signal).catch(() => {});
  }

  /** Whether its program is still missing; it then waits. */
  async #isMissing(signal: AbortSignal): Promise<boolean> {
    const missing = this.module.error || this.#deps.missing(this.module.executablePath);
    if (missing === undefined) return false;
    if (missing !== this.#status.error) this.#log.error(`module "${this.module.name}" is not started: ${missing}`);
    this.#set({ state: 'pending', error: missing });
    this.#provide({ state: 'failed', reason: missing });
    await this.#clock.sleep(pendingLookMs, signal).catch(() => {});
    return true;
  }

  #newSignal(): AbortSignal {
    this.#again = new AbortController();
    return AbortSignal.any([this.#stop.signal, this.#again.signal]);
  }

  #provide(provided: Provided): void {
    if (!this.#stop.signal.aborted) this.#deps.provide(providerName(this.module.name), provided);
  }

  #set(change: Partial<ModuleStatus>): void {
    const state = this.#stop.signal.aborted ? 'closing' : (change.state ?? this.#status.state);
    const since = state === this.#status.state ? this.#status.since : this.#clock.now();
    this.#status = { ...this.#status, ...change, state, since };
    this.#deps.onChange();
  }
}

/** The name of a module in errors of resources. */
export function providerName(module: string): string {
  return `module "${module}"`;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
