/**
 * The configuration of a part, from its cloud, with the cache behind it (D8).
 *
 * Start: cloud within the read timeout, else the cache if its age allows, else no start. Running: every refresh the cloud is
 * asked; a failure of any kind changes nothing. The cache is written when the configuration changes, and its
 * confirmation at most once an hour, so that refreshing does not wear the disk.
 */
import { equals } from '@bufbuild/protobuf';
import { backoffMs, type Clock, errorText, type Log, PlatformError } from '@platform/base';
import { type RobotConfig, RobotConfigSchema, RobotService } from '@platform/proto/platform/app/v1/robot';
import type { Link } from '@platform/rpc/client';
import { cacheFile, judgeAge, readCache, writeCache } from './cache.ts';
import type { CloudCredentials } from './credentials.ts';

export interface WatchOptions {
  readonly link: Link;
  readonly credentials: CloudCredentials;
  readonly home: string;
  readonly readTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

const confirmEveryMs = 3_600_000;

export class ConfigWatch implements AsyncDisposable {
  readonly #options: WatchOptions;
  readonly #path: string;
  readonly #stop = new AbortController();
  #current: RobotConfig | undefined;
  #confirmedMs = 0;
  #running: Promise<void> | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#path = cacheFile(options.home, options.credentials.partId);
  }

  /** The configuration to start with. @throws PlatformError when there is none that may be used. */
  async first(signal: AbortSignal): Promise<RobotConfig> {
    const { log, clock, credentials, readTimeoutMs } = this.#options;
    try {
      const config = await this.#fetch(readTimeoutMs, signal);
      await this.#keep(config);
      return config;
    } catch (caught) {
      signal.throwIfAborted();
      const text = errorText(caught);
      const { appAddress } = credentials;
      const reason = text.includes(appAddress)
        ? `no configuration: ${text}`
        : `no configuration from ${appAddress}: ${text}`;
      const cached = await readCache(this.#path).catch((unreadable) => {
        log.error(errorText(unreadable));
        return undefined;
      });
      if (cached === undefined) {
        const code = caught instanceof PlatformError ? caught.code : 'unavailable';
        throw new PlatformError(code, `${reason}; none is cached in ${this.#path}`, caught);
      }
      const age = judgeAge(cached, clock.now(), credentials.offlineLimitDays, this.#path);
      if (age.kind === 'refused') throw new PlatformError('failed_precondition', `${reason}; ${age.message}`, caught);
      log.warn(`${reason}; the cached one is used`);
      if (age.kind === 'old') log.warn(age.message);
      this.#current = cached.config;
      this.#confirmedMs = cached.confirmedMs;
      return cached.config;
    }
  }

  /** Asks every refresh; `apply` gets each configuration that differs from the one before. A failing `apply` is asked again. */
  start(apply: (config: RobotConfig) => Promise<void>): void {
    this.#running = this.#watch(apply);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #watch(apply: (config: RobotConfig) => Promise<void>): Promise<void> {
    const { clock, log, credentials, readTimeoutMs } = this.#options;
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
        if (failures > 0) log.info('the cloud answers again', { failures });
        failures = 0;
        if (this.#current !== undefined && equals(RobotConfigSchema, config, this.#current)) {
          if (clock.now() - this.#confirmedMs >= confirmEveryMs) await this.#keep(config);
          continue;
        }
        log.info('new configuration', { revision: config.revision });
        await apply(config);
        await this.#keep(config);
      } catch (caught) {
        if (signal.aborted) return;
        failures++;
        if (failures === 1)
          log.warn(`asking for the configuration failed; the running one goes on: ${errorText(caught)}`);
        else log.debug('asking for the configuration failed', { error: errorText(caught), failures });
      }
    }
  }

  async #fetch(timeoutMs: number, signal: AbortSignal): Promise<RobotConfig> {
    const { link, credentials } = this.#options;
    const { config } = await link.client(RobotService).config({ id: credentials.partId }, { timeoutMs, signal });
    if (config === undefined) throw new PlatformError('internal', 'the cloud answered without a configuration');
    return config;
  }

  async #keep(config: RobotConfig): Promise<void> {
    const nowMs = this.#options.clock.now();
    this.#current = config;
    this.#confirmedMs = nowMs;
    await writeCache(this.#path, config, nowMs).catch((caught) =>
      this.#options.log.error('the configuration could not be cached', { file: this.#path, error: errorText(caught) }),
    );
  }
}
