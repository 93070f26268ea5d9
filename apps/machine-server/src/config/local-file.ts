/**
 * Watches a local file with the whole configuration, without a cloud.
 *
 * Start: the file. If it has errors, the last valid configuration from the cache; if there never was one, the valid entries of the file.
 * Running: the file is checked several times a second. It is read when it has changed and is unchanged at the next check, because editors
 * write in several steps. A file with errors changes nothing: they are in the log and in the status, with path, line and column. A missing
 * file counts as a change only after a while. Until a file without errors has run, the valid entries of each one run; if its `auth` as a
 * whole has an error, the keys of before stay (D50).
 *
 * The maintenance window also holds back edits (D9): those made while the server runs.
 */

import { type Clock, errorText, inBackground, invalidArgument, type Log, type Problem } from '@platform/base';
import type { JsonText } from '@platform/machine-config/read-json';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { logProblems } from '../logging/log-problems.ts';
import { localCacheFile, readCache, writeCache } from './cache.ts';
import type { Apply, ConfigSource, Hold } from './config-source.ts';
import { type Held, Holding } from './holding.ts';
import { type LocalConfig, parseLocalConfig } from './local-config.ts';
import { readDocumentFile, signatureOf } from './read-document.ts';

export interface LocalFileDeps {
  readonly path: string;
  /** The file as it was read at the start. */
  readonly text: JsonText;
  /** Signature of the file when `text` was read: see `signatureOf`. */
  readonly signature: string;
  readonly home: string;
  /** Called after `problem` or `held` has changed, once it is started. */
  readonly onProblem: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

const lookEveryMs = 250;
/** How long a file may be missing while an editor replaces it. */
const goneAfterMs = 3_000;
const askAgainEveryMs = 5_000;
/** Further ones are only counted. */
const maxTold = 20;

/** The valid part of a file; without a configuration if nothing can run. */
interface Parsed extends Partial<LocalConfig> {
  readonly errors: readonly Problem[];
  readonly faults: readonly string[];
}

export class LocalFile implements ConfigSource {
  readonly #deps: LocalFileDeps;
  readonly #cache: string;
  readonly #holding: Holding;
  #running: AsyncDisposable | undefined;
  #problem = '';
  /** The file's signature when it was last read. */
  #seen: string;
  #revision = '';
  #auth: RobotConfig['auth'];
  /** A configuration without errors has run. */
  #isProven = false;

  constructor(deps: LocalFileDeps) {
    this.#deps = deps;
    this.#seen = deps.signature;
    this.#cache = localCacheFile(deps.home, deps.path);
    this.#holding = new Holding(deps.clock, deps.log);
  }

  get held(): Held | undefined {
    return this.#holding.held;
  }

  get problem(): string {
    return this.#problem;
  }

  async first(): Promise<RobotConfig> {
    const { clock, log } = this.#deps;
    const { config, errors, faults } = await this.#parse(this.#deps.text);
    const { cached, damage } = await readCache(this.#cache);
    if (damage !== '') log.error(damage);
    if (config !== undefined && errors.length === 0) {
      const isOther = cached !== undefined && cached.config.revision !== config.revision;
      if (!isOther || config.maintenance === undefined) {
        await this.#prove(config);
        return config;
      }
      // It is not known yet whether the window is open.
      this.#holding.hold(config.revision, 'starting with the configuration that was applied before');
    } else if (cached !== undefined) {
      const minutes = Math.round((clock.now() - cached.confirmedMs) / 60_000);
      const used = `using the last one without errors (read ${minutes} min ago, kept in ${cached.path})`;
      this.#complain([...faults, used, damage], errors);
    }
    if (cached !== undefined) {
      this.#auth = cached.config.auth;
      this.#isProven = true;
      this.#revision = cached.config.revision;
      return cached.config;
    }
    if (config === undefined) throw invalidArgument([...faults, damage].filter(Boolean).join('; '));
    this.#complain([...faults, 'running without what has errors', damage], errors);
    this.#auth = config.auth;
    this.#revision = config.revision;
    return config;
  }

  start(apply: Apply, hold: Hold): void {
    this.#running = inBackground((signal) => this.#watch(apply, hold, signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.[Symbol.asyncDispose]();
  }

  async #watch(apply: Apply, hold: Hold, signal: AbortSignal): Promise<void> {
    const { path, clock, log } = this.#deps;
    let before = this.#seen;
    let goneSinceMs = Number.POSITIVE_INFINITY;
    let askedMs = clock.monotonic();
    while (!signal.aborted) {
      await clock.sleep(lookEveryMs, signal).catch(() => {});
      if (signal.aborted) return;
      const now = await signatureOf(path);
      const isSettled = now === before;
      before = now;
      goneSinceMs = now === '' ? Math.min(goneSinceMs, clock.monotonic()) : Number.POSITIVE_INFINITY;
      const isGone = now === '' && clock.monotonic() - goneSinceMs < goneAfterMs;
      const isDue = this.held !== undefined && clock.monotonic() - askedMs >= askAgainEveryMs;
      if (isGone || !((isSettled && now !== this.#seen) || isDue)) continue;
      this.#seen = now;
      askedMs = clock.monotonic();
      try {
        await this.#take(apply, hold);
      } catch (caught) {
        log.error(`the configuration could not be applied: ${errorText(caught)}`, { file: path });
      }
    }
  }

  async #take(apply: Apply, hold: Hold): Promise<void> {
    const { log, path, onProblem } = this.#deps;
    const { config, errors, faults } = await this.#parse(await readDocumentFile(path));
    if (config === undefined || (errors.length > 0 && this.#isProven))
      return this.#complain([...faults, 'the running configuration stays in use'], errors);
    if (errors.length > 0) this.#complain([...faults, 'running without what has errors'], errors);
    else if (this.#problem !== '') {
      this.#problem = '';
      log.info('the configuration file no longer has errors', { file: path });
      onProblem();
    }
    if (errors.some(({ path }) => path === 'auth' || path === 'auth.handlers') && this.#auth) config.auth = this.#auth;
    if (config.revision === this.#revision) {
      this.#holding.release();
      if (errors.length === 0) await this.#prove(config);
      return onProblem();
    }
    const reason = await hold(config);
    if (reason !== undefined) {
      this.#holding.hold(config.revision, reason);
      return onProblem();
    }
    log.info('new configuration', { revision: config.revision, ...this.#holding.waited(config.revision) });
    this.#auth = config.auth;
    await apply(config);
    this.#holding.release();
    if (errors.length === 0) await this.#prove(config);
    else this.#revision = config.revision;
  }

  async #parse(text: JsonText): Promise<Parsed> {
    const { path, log } = this.#deps;
    const fail = (message: string) => ({ errors: [], faults: [`configuration file ${path}: ${message}`] });
    if (text.kind === 'invalid') return fail(text.message);
    const { document } = text;
    if (typeof document !== 'object' || document === null || Array.isArray(document))
      return fail(`expected a JSON object, found ${JSON.stringify(document).slice(0, 80)}`);
    if ('cloud' in document && this.#running !== undefined)
      return fail('expected no "cloud" while the server runs: restart it to connect to a cloud');
    const read = await parseLocalConfig(text);
    await logProblems(log, read.warnings);
    const { errors } = read;
    return { ...read, faults: errors.length === 0 ? [] : [`configuration file ${path} has errors`] };
  }

  /** Writes the problem to the log and into the status. */
  #complain(texts: readonly string[], errors: readonly Problem[]): void {
    const { log, onProblem } = this.#deps;
    const [first = '', ...rest] = texts.filter((text) => text !== '');
    const told = errors.slice(0, maxTold).map(({ path, message }) => `${path}, ${message}`);
    if (errors.length > maxTold) told.push(`and ${errors.length - maxTold} more`);
    const problem = [told.length === 0 ? first : `${first}: ${told.join('; ')}`, ...rest].join('; ');
    if (problem === this.#problem) return;
    this.#problem = problem;
    log.error(problem);
    if (this.#running !== undefined) onProblem();
  }

  /** The configuration is valid: from now on, one with errors does not replace it. */
  async #prove(config: RobotConfig): Promise<void> {
    const { clock, log } = this.#deps;
    this.#isProven = true;
    this.#revision = config.revision;
    await writeCache(this.#cache, config, clock.now()).catch((caught) =>
      log.error('the configuration could not be cached', { file: this.#cache, error: errorText(caught) }),
    );
  }
}
