/**
 * The configuration of a part, from its cloud, with the cache as a fallback (D8).
 *
 * Start: from the cloud within the read timeout, otherwise from the cache if its age allows, otherwise no start. Running: the cloud is
 * asked at every refresh; a failure of any kind changes nothing. The cache is written when the configuration changes, and its confirmation
 * at most once an hour, so that refreshing does not wear out the disk.
 *
 * Holding (D9): the cache contains the applied configuration, and a restart uses that. A newer configuration that must wait is pending: it
 * is checked again at each refresh, and a still newer one replaces it. An owner may force the pending one: that revision is applied
 * whatever the window says, but not the ones after it.
 */
import { equals } from '@bufbuild/protobuf';
import { backoffMs, type Clock, errorText, type Log, PlatformError } from '@platform/base';
import { type RobotConfig, RobotConfigSchema, RobotService } from '@platform/proto/platform/app/v1/robot';
import type { Link } from '@platform/rpc/client';
import { cacheFile, checkAge, readCache, writeCache } from './cache.ts';
import { connectionTrouble } from './connection-trouble.ts';
import type { CloudCredentials } from './credentials.ts';

export interface ConfigWatchDeps {
  readonly link: Link;
  readonly credentials: CloudCredentials;
  readonly home: string;
  readonly readTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

const confirmEveryMs = 3_600_000;
/** How often the log repeats that a configuration waits (D9). */
const remindEveryMs = 86_400_000;

/** A newer configuration that waits for the maintenance window. */
export interface Held {
  readonly revision: string;
  readonly reason: string;
  /** When this revision began to wait: wall clock ms. */
  readonly sinceMs: number;
}

export class ConfigWatch implements AsyncDisposable {
  readonly #deps: ConfigWatchDeps;
  readonly #path: string;
  readonly #stop = new AbortController();
  #current: RobotConfig | undefined;
  #confirmedMs = 0;
  #held: Held | undefined;
  #forced = '';
  /** Monotonic ms at which the log last said that the held configuration waits. */
  #remindedMs = 0;
  #running: Promise<void> | undefined;

  constructor(deps: ConfigWatchDeps) {
    this.#deps = deps;
    this.#path = cacheFile(deps.home, deps.credentials.partId);
  }

  /** The configuration to start with. @throws PlatformError if there is none that may be used. */
  async first(signal: AbortSignal): Promise<RobotConfig> {
    const { log, clock, credentials, readTimeoutMs } = this.#deps;
    try {
      const config = await this.#fetch(readTimeoutMs, signal);
      const start = await this.#startWith(config);
      await this.#keep(start);
      return start;
    } catch (caught) {
      signal.throwIfAborted();
      const reason = `no configuration: ${connectionTrouble(caught, credentials)}`;
      const cached = await readCache(this.#path).catch((unreadable) => {
        log.error(errorText(unreadable));
        return undefined;
      });
      if (cached === undefined) {
        const code = caught instanceof PlatformError ? caught.code : 'unavailable';
        throw new PlatformError(code, `${reason}; there is no cached configuration in ${this.#path}`);
      }
      const age = checkAge(cached, clock.now(), credentials.offlineLimitDays, this.#path);
      if (age.kind === 'refused') throw new PlatformError('failed_precondition', `${reason}; ${age.message}`);
      log.warn(`${reason}; using the cached configuration`);
      if (age.kind === 'old') log.warn(age.message);
      this.#current = cached.config;
      this.#confirmedMs = cached.confirmedMs;
      return cached.config;
    }
  }

  /**
   * Asks at every refresh; `apply` gets each configuration that differs from the one before. If it throws, it is called again at the next
   * refresh. The work that it starts is not awaited, so that a later configuration can correct it.
   *
   * @param hold why a configuration of another revision must wait; undefined if it need not.
   */
  start(apply: (config: RobotConfig) => unknown, hold: (config: RobotConfig) => Promise<string | undefined>): void {
    this.#running = this.#watch(apply, hold);
  }

  get held(): Held | undefined {
    return this.#held;
  }

  /** An owner wants this revision applied whatever the window says: at the next refresh, unless the cloud has another revision by then. */
  force(revision: string): void {
    if (revision !== this.#forced && revision !== '')
      this.#deps.log.info('an owner forces the pending configuration', { revision });
    this.#forced = revision;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #watch(
    apply: (config: RobotConfig) => unknown,
    hold: (config: RobotConfig) => Promise<string | undefined>,
  ): Promise<void> {
    const { clock, log, credentials, readTimeoutMs } = this.#deps;
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      const waitMs =
        failures === 0
          ? credentials.refreshMs
          : Math.max(credentials.refreshMs, backoffMs(failures, { maxMs: 60_000 }));
      await clock.sleep(waitMs, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        const config = await this.#fetch(readTimeoutMs, signal);
        if (failures > 0) log.info('the cloud is reachable again', { failures });
        failures = 0;
        if (config.revision !== this.#forced) this.#forced = '';
        if (this.#current !== undefined && equals(RobotConfigSchema, config, this.#current)) {
          this.#held = undefined;
          if (clock.now() - this.#confirmedMs >= confirmEveryMs) await this.#keep(config);
          continue;
        }
        // The data around the configuration (names, secrets of the location) never waits.
        const mayPass = config.revision === this.#current?.revision || config.revision === this.#forced;
        const reason = mayPass ? undefined : await hold(config);
        if (reason !== undefined && this.#current !== undefined) {
          this.#hold(config.revision, reason);
          if (clock.now() - this.#confirmedMs >= confirmEveryMs) await this.#keep(this.#current);
          continue;
        }
        const waited = this.#held?.revision === config.revision ? { waitedMs: clock.now() - this.#held.sinceMs } : {};
        log.info('new configuration', { revision: config.revision, ...waited });
        apply(config);
        this.#held = undefined;
        this.#forced = '';
        await this.#keep(config);
      } catch (caught) {
        if (signal.aborted) return;
        failures++;
        if (failures === 1)
          log.warn(
            `fetching the configuration failed; the running one stays in use: ${connectionTrouble(caught, credentials)}`,
          );
        else log.debug('fetching the configuration failed', { error: errorText(caught), failures });
      }
    }
  }

  /**
   * If the cloud's configuration has a maintenance window, a restart uses the one applied before: no one can say yet whether the window is
   * open.
   */
  async #startWith(config: RobotConfig): Promise<RobotConfig> {
    if (config.maintenance === undefined) return config;
    // An unreadable cache is reported where it is needed; here a configuration is available.
    const cached = await readCache(this.#path).catch(() => undefined);
    if (cached === undefined || cached.config.revision === config.revision) return config;
    this.#hold(config.revision, 'starting with the configuration that was applied before');
    return cached.config;
  }

  #hold(revision: string, reason: string): void {
    const { clock, log } = this.#deps;
    const before = this.#held?.revision === revision ? this.#held : undefined;
    this.#held = { revision, reason, sinceMs: before?.sinceMs ?? clock.now() };
    if (before === undefined) {
      this.#remindedMs = clock.monotonic();
      log.info(`new configuration waits for its maintenance window: ${reason}`, { revision });
    } else if (clock.monotonic() - this.#remindedMs >= remindEveryMs) {
      this.#remindedMs = clock.monotonic();
      const since = new Date(this.#held.sinceMs).toISOString();
      log.warn(`the new configuration still waits for its maintenance window: ${reason}`, { revision, since });
    }
  }

  async #fetch(timeoutMs: number, signal: AbortSignal): Promise<RobotConfig> {
    const { link, credentials } = this.#deps;
    const { config } = await link.client(RobotService).config({ id: credentials.partId }, { timeoutMs, signal });
    if (config === undefined) throw new PlatformError('internal', 'the cloud answered without a configuration');
    return config;
  }

  async #keep(config: RobotConfig): Promise<void> {
    const nowMs = this.#deps.clock.now();
    this.#current = config;
    this.#confirmedMs = nowMs;
    await writeCache(this.#path, config, nowMs).catch((caught) =>
      this.#deps.log.error('the configuration could not be cached', { file: this.#path, error: errorText(caught) }),
    );
  }
}
