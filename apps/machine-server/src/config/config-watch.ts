/**
 * The configuration of a part, from its cloud, with the cache as a fallback (D8).
 *
 * Start: from the cloud within the read timeout, otherwise from the cache if its age allows, otherwise no start. Running: the cloud is
 * asked at every refresh; a failure of any kind changes nothing. A configuration that the cloud cannot serve, or that cannot be read, is
 * reported as a problem. The cache is written when the configuration changes, and its confirmation at most once an hour, so that refreshing
 * does not wear out the disk; the previous one replaces a damaged one.
 *
 * Holding (D9): the cache contains the applied configuration, and a restart uses that. A newer configuration that must wait is pending: it
 * is checked again at each refresh, and an even newer one replaces it. An owner may force the pending one: that revision is applied
 * regardless of the window, but later ones are not.
 */
import {
  asPlatformError,
  backoffMs,
  type Clock,
  type CodeName,
  errorText,
  failedPrecondition,
  inBackground,
  isOfDeletedMachine,
  isSame,
  type Log,
  PlatformError,
  runInTurns,
} from '@platform/base';
import { type RobotConfig, RobotService } from '@platform/proto/platform/app/v1/robot';
import { encodedCall, type Link } from '@platform/rpc/client';
import type { CloudReach } from '../cloud-link/cloud-reach.ts';
import { stopwatch } from '../logging/stopwatch.ts';
import { cacheFile, checkAge, readCache, writeCache } from './cache.ts';
import type { Apply, ConfigSource, Hold } from './config-source.ts';
import { connectionTrouble } from './connection-trouble.ts';
import type { CloudCredentials } from './credentials.ts';
import { decodeConfig } from './decode-config.ts';
import { type Held, Holding } from './holding.ts';
import { shareEqual } from './share-equal.ts';

export interface ConfigWatchDeps {
  readonly link: Link;
  readonly credentials: CloudCredentials;
  readonly home: string;
  readonly readTimeoutMs: number;
  /** Called after `problem` has changed. */
  readonly onProblem: () => void;
  readonly reach: Pick<CloudReach, 'wait'>;
  readonly clock: Clock;
  readonly log: Log;
}

const confirmEveryMs = 3_600_000;
const backoff = { maxMs: 8_000 };
/** Who polls less often says so: the cloud then waits longer before it regards the part as offline (D17). */
const usualPollMs = 20_000;
/** The cloud cannot be reached or refuses this machine, so there is no news of the configuration. */
const unreachable: readonly CodeName[] = ['unavailable', 'deadline_exceeded', 'unauthenticated', 'permission_denied'];

export class ConfigWatch implements ConfigSource {
  readonly #deps: ConfigWatchDeps;
  readonly #path: string;
  #current: RobotConfig | undefined;
  #confirmedMs = 0;
  readonly #holding: Holding;
  #problem = '';
  #isDeleted = false;
  #running: AsyncDisposable | undefined;

  constructor(deps: ConfigWatchDeps) {
    this.#deps = deps;
    this.#path = cacheFile(deps.home, deps.credentials.partId);
    this.#holding = new Holding(deps.clock, deps.log);
  }

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
      if (isOfDeletedMachine(caught)) this.#deleted(reason);
      const { cached, damage } = await readCache(this.#path);
      if (damage !== '') log.error(damage);
      if (cached === undefined) {
        const code = caught instanceof PlatformError ? caught.code : 'unavailable';
        const found = damage === '' ? `there is no cached configuration in ${this.#path}` : damage;
        throw new PlatformError(code, `${reason}; ${found}`);
      }
      const age = checkAge(cached, clock.now(), credentials.offlineLimitDays);
      if (age.kind === 'refused') throw failedPrecondition(`${reason}; ${age.message}`);
      log.warn(`${reason}; using the cached configuration`, { file: cached.path });
      if (age.kind === 'old') log.warn(age.message);
      this.#problem = [reason, damage, `using the configuration cached in ${cached.path}`]
        .filter((text) => text !== '')
        .join('; ');
      this.#current = cached.config;
      this.#confirmedMs = cached.confirmedMs;
      return cached.config;
    }
  }

  start(apply: Apply, hold: Hold): void {
    this.#running = inBackground((signal) => this.#watch(apply, hold, signal));
  }

  get held(): Held | undefined {
    return this.#holding.held;
  }

  get problem(): string {
    return this.#problem;
  }

  /** An owner forces this revision regardless of the window: at the next refresh, unless the cloud has another revision by then. */
  force(revision: string): void {
    this.#holding.force(revision);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.[Symbol.asyncDispose]();
  }

  async #watch(apply: Apply, hold: Hold, signal: AbortSignal): Promise<void> {
    const { clock, log, credentials, reach, readTimeoutMs } = this.#deps;
    let failures = 0;
    let attemptMs = 0;
    while (!signal.aborted) {
      // An attempt that waited for its answer in vain has used the interval up.
      const waitMs =
        failures === 0
          ? credentials.refreshMs
          : Math.max(backoffMs(1), Math.max(credentials.refreshMs, backoffMs(failures, backoff)) - attemptMs);
      await reach.wait(waitMs, signal);
      if (signal.aborted) return;
      const startedMs = clock.monotonic();
      try {
        const took = stopwatch(clock);
        const config = await this.#fetch(readTimeoutMs, signal);
        log.debug('fetched the configuration', { revision: config.revision, ...took() });
        if (failures > 0) log.info('the cloud is reachable again', { failures });
        failures = 0;
        this.#isDeleted = false;
        this.#solved();
        if (this.#current !== undefined) await runInTurns(shareEqual(this.#current, config));
        const isForced = this.#holding.isForced(config.revision);
        if (isSame(config, this.#current)) {
          this.#holding.release();
          if (clock.now() - this.#confirmedMs >= confirmEveryMs) await this.#keep(config);
          continue;
        }
        // The data around the configuration (names, secrets of the location) never waits.
        const mayPass = config.revision === this.#current?.revision || isForced;
        const reason = mayPass ? undefined : await hold(config);
        if (reason !== undefined && this.#current !== undefined) {
          this.#holding.hold(config.revision, reason);
          if (clock.now() - this.#confirmedMs >= confirmEveryMs) await this.#keep(this.#current);
          continue;
        }
        log.info('new configuration', { revision: config.revision, ...this.#holding.waited(config.revision) });
        if (signal.aborted) return;
        await apply(config);
        this.#holding.release();
        this.#holding.force('');
        await this.#keep(config);
      } catch (caught) {
        if (signal.aborted) return;
        failures++;
        attemptMs = clock.monotonic() - startedMs;
        const text = `fetching the configuration failed; the running one stays in use: ${connectionTrouble(caught, credentials)}`;
        const isNews = this.#failed(caught, text);
        if (isOfDeletedMachine(caught)) this.#deleted(text);
        else if (failures === 1 || isNews) log.warn(text);
        else log.debug('fetching the configuration failed', { error: errorText(caught), failures });
      }
    }
  }

  /**
   * If the cloud's configuration has a maintenance window, a restart uses the previously applied one: it is not known yet whether the
   * window is open.
   */
  async #startWith(config: RobotConfig): Promise<RobotConfig> {
    if (config.maintenance === undefined) return config;
    // An unreadable cache is reported where it is needed; here a configuration is available.
    const { cached } = await readCache(this.#path);
    if (cached === undefined || cached.config.revision === config.revision) return config;
    this.#holding.hold(config.revision, 'starting with the configuration that was applied before');
    return cached.config;
  }

  /** Once, although every poll says it: the machine keeps running as long as nobody stops it (D8). */
  #deleted(text: string): void {
    if (!this.#isDeleted) this.#deps.log.error(text);
    this.#isDeleted = true;
  }

  /** An unreachable cloud is not a problem of its configuration. @returns whether this is a new problem */
  #failed(caught: unknown, text: string): boolean {
    if (unreachable.includes(asPlatformError(caught).code) || text === this.#problem) return false;
    this.#problem = text;
    this.#deps.onProblem();
    return true;
  }

  #solved(): void {
    if (this.#problem === '') return;
    this.#problem = '';
    this.#deps.onProblem();
  }

  async #fetch(timeoutMs: number, signal: AbortSignal): Promise<RobotConfig> {
    const { link, credentials } = this.#deps;
    const { partId, refreshMs } = credentials;
    const headers = refreshMs > usualPollMs ? { 'platform-refresh-ms': String(refreshMs) } : {};
    const bytes = await encodedCall(link, RobotService.method.config)({ id: partId }, { timeoutMs, signal, headers });
    const config = await runInTurns(decodeConfig(bytes)).catch((caught) => {
      if (caught instanceof PlatformError) throw caught;
      throw new PlatformError('internal', `the configuration of the cloud cannot be read: ${errorText(caught)}`);
    });
    if (config === undefined) throw new PlatformError('internal', 'the cloud answered without a configuration');
    const { id = '' } = config.cloud ?? {};
    if (id !== '' && id !== partId)
      throw new PlatformError('internal', `the cloud answered with the configuration of another part (${id})`);
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
