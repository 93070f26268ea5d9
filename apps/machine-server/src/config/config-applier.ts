/**
 * Applies a configuration to the server (log levels, credentials of callers, resources), and remembers the running one. Each step takes its
 * turns resource by resource, because a configuration may have thousands, and stops must not wait for them (D48).
 */
import {
  type Clock,
  createLimiter,
  errorText,
  failedPrecondition,
  type Log,
  type Problem,
  runInTurns,
  type Steps,
} from '@platform/base';
import { fromRobotConfig, knownResource } from '@platform/machine-config/robot-config';
import type { JsonObject, MachineConfig, ResourceConfig } from '@platform/machine-config/schema';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { formatResourceName } from '@platform/resources';
import type { Graph } from '../graph/graph.ts';
import { logProblems } from '../logging/log-problems.ts';
import type { ServerLog } from '../logging/server-log.ts';
import type { Modules } from '../modules/feature.ts';
import type { Packages } from '../packages/feature.ts';
import type { Remotes } from '../remotes/feature.ts';
import { closedText, type MachineAuth, secretsOf } from '../serve/authenticate.ts';
import type { Tunnels } from '../serve/tunnels/tunnels.ts';
import { type Observe, observed } from '../telemetry/observe.ts';
import { AttributeWarnings } from './attribute-warnings.ts';
import { configuredSecrets } from './configured-secrets.ts';
import type { ConfigEnvironment } from './environment.ts';
import { logChanges } from './log-changes.ts';
import { shareEqual } from './share-equal.ts';
import { unsupportedSettings } from './unsupported-settings.ts';

export interface ConfigApplierDeps {
  /** The configuration that the server starts with. */
  readonly first: RobotConfig;
  /** The same without placeholders. */
  readonly firstResolved: RobotConfig;
  readonly environment: ConfigEnvironment;
  readonly graph: Graph;
  readonly modules: Pick<Modules, 'apply'>;
  readonly remotes: Pick<Remotes, 'apply'>;
  readonly packages: Pick<Packages, 'apply'>;
  readonly auth: MachineAuth;
  readonly tunnels: Pick<Tunnels, 'configure'>;
  readonly serverLog: ServerLog;
  /** `-debug`. */
  readonly debug: boolean;
  /** `-reveal-sensitive-config-diffs`. */
  readonly revealDiffs: boolean;
  /** Called after a configuration was applied or could not be applied. */
  readonly onChange: () => void;
  /** Observes how configurations are applied. */
  readonly observe: Observe | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Applied {
  readonly config: RobotConfig;
  /** Empty until the first one is applied. */
  readonly revision: string;
  readonly appliedMs: number;
}

export class ConfigApplier implements AsyncDisposable {
  readonly #deps: ConfigApplierDeps;
  /** As in the source: with placeholders. */
  #written: RobotConfig;
  #wanted: RobotConfig;
  #applied: Applied;
  #error = '';
  /** The settings that lack a variable of the environment. */
  #missing = '';
  readonly #attributes: AttributeWarnings;
  /** The revision whose unsupported settings were logged. */
  #warnedOf: string | undefined;
  /** One configuration is applied at a time. */
  readonly #oneByOne = createLimiter(1);
  #isStopped = false;

  constructor(deps: ConfigApplierDeps) {
    this.#deps = deps;
    this.#attributes = new AttributeWarnings(deps.serverLog.log.child('resources'));
    this.#written = deps.first;
    this.#wanted = deps.firstResolved;
    this.#applied = { config: this.#wanted, revision: '', appliedMs: deps.clock.now() };
  }

  /** The newest configuration, whether it could be applied or not. */
  get wanted(): RobotConfig {
    return this.#wanted;
  }

  get applied(): Applied {
    return this.#applied;
  }

  /** Why the newest configuration, or a part of it, could not be applied; empty if it could. */
  get error(): string {
    return [this.#error, this.#missing, this.#deps.auth.closed ? closedText : '']
      .filter((text) => text !== '')
      .join('; ');
  }

  /** The attributes of a resource that have no effect. @param full its full name */
  warningsOf(full: string): readonly string[] {
    return this.#attributes.of(full);
  }

  /**
   * Resolves once its resources are being built. Rejects if it cannot be applied.
   *
   * @returns `settled` resolves when every resource was built or failed once. A slow resource does not delay a later configuration.
   */
  apply(written: RobotConfig): Promise<{ readonly settled: Promise<void> }> {
    return this.#inTurn(() => this.#apply(written));
  }

  /** After something outside the configuration has changed what it means, such as the folder of a package. */
  applyAgain(): void {
    // A failure is reported as the error of the configuration.
    void this.#inTurn(() => this.#apply(this.#written)).catch(() => {});
  }

  /** What is being applied ends first: nothing is built or started afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#oneByOne(async () => {});
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#oneByOne(async () => {
      this.#requireRunning();
      return await work();
    });
  }

  #requireRunning(): void {
    if (this.#isStopped) throw failedPrecondition('the machine-server stops');
  }

  async #apply(written: RobotConfig): Promise<{ readonly settled: Promise<void> }> {
    const before = this.#written;
    await runInTurns(shareEqual(before, written));
    const { config: message, problems } = await runInTurns(this.#deps.environment.resolve(written));
    this.#written = written;
    this.#wanted = message;
    try {
      // First: whatever happens to the rest of an edit, keys and ports that it no longer contains stop working (D50).
      this.#setKeys(message);
      this.#deps.tunnels.configure(message);
      await this.#hideSecrets(before, message);
      const { built } = await this.#begin(before, written, message, problems);
      const { revision } = message;
      return {
        settled: observed(this.#deps.observe, 'configuration.apply', { revision }, () => built)
          .then(() => this.#succeeded(message))
          .catch((caught) => this.#failed(message, caught)),
      };
    } catch (caught) {
      this.#failed(message, caught);
      throw caught;
    }
  }

  /** Called before anything is logged about either configuration. */
  async #hideSecrets(...messages: readonly RobotConfig[]): Promise<void> {
    const secrets: string[] = [];
    for (const message of messages)
      for (const secret of await runInTurns(configuredSecrets(message, await documentOf(message))))
        secrets.push(secret);
    const { serverLog, environment } = this.#deps;
    serverLog.redactor.hide('configuration', secrets);
    serverLog.redactor.hide('environment', environment.secrets);
  }

  async #begin(
    before: RobotConfig,
    written: RobotConfig,
    message: RobotConfig,
    missing: readonly Problem[],
  ): Promise<{ readonly built: Promise<void> }> {
    const { graph, modules, remotes, packages, serverLog, log, revealDiffs: reveal } = this.#deps;
    const asked = await documentOf(message);
    const faults = faultsOf(missing);
    const faulty = {
      modules: asked.modules.map(withFault('modules', faults)),
      packages: asked.packages.map(withFault('packages', faults)),
    };
    const config = packages.apply({ ...asked, ...faulty });
    await this.#setLog(config);
    const { revision } = message;
    if (before.revision !== revision)
      await runInTurns(
        logChanges({
          ...{ before: await documentOf(before), after: await documentOf(written) },
          ...{ revision, serverLog, log, reveal },
        }),
      );
    if (this.#warnedOf !== message.revision) await logProblems(log, [...missing, ...unsupportedSettings(config)]);
    this.#warnedOf = message.revision;
    this.#missing = [...faults].flatMap(([at, text]) => (hasOwnStatus.test(at) ? [] : [text])).join('; ');
    const resources = [...config.components, ...config.services];
    await runInTurns(this.#attributes.set(resources));
    const faultOf = (list: readonly ResourceConfig[], key: string): [string, string][] =>
      (faults.size === 0 ? [] : list).flatMap((each, index) => {
        const fault = faults.get(`${key}[${index}]`);
        return fault === undefined ? [] : [[formatResourceName(each), fault]];
      });
    const ofResources = new Map([...faultOf(config.components, 'components'), ...faultOf(config.services, 'services')]);
    this.#requireRunning();
    const built = graph.apply(resources, message.revision, ofResources);
    // After that, but before a resource is built: removed modules are not missed, and resources wait for new ones.
    modules.apply(config.modules);
    remotes.apply(asked.remotes.map(withFault('remotes', faults)));
    return { built };
  }

  #setKeys(message: RobotConfig): void {
    const { auth, log } = this.#deps;
    const wasClosed = auth.closed;
    auth.configure(secretsOf(message));
    if (auth.closed && !wasClosed) log.error(closedText);
  }

  #setLog(config: MachineConfig): Promise<void> {
    const { serverLog, debug, log } = this.#deps;
    serverLog.deduplicate = !config.disable_log_deduplication;
    const own = [...config.components, ...config.services].flatMap((resource) =>
      resource.log_configuration === undefined
        ? []
        : [[formatResourceName(resource), resource.log_configuration.level] as const],
    );
    const modules = config.modules.flatMap(({ name, log_level: level }) =>
      typeof name === 'string' ? [[name, typeof level === 'string' ? level : ''] as const] : [],
    );
    const settings = {
      ...{ debug: debug || config.debug, patterns: config.log },
      ...{ resources: new Map(own), modules: new Map(modules) },
      names: () => [...config.components, ...config.services].map(formatResourceName),
    };
    return logProblems(log, serverLog.levels.set(settings));
  }

  #succeeded(message: RobotConfig): void {
    if (this.#wanted !== message) return;
    const { clock, log, onChange } = this.#deps;
    const { revision, components, services } = message;
    this.#applied = { config: message, revision, appliedMs: clock.now() };
    this.#error = '';
    log.info('configuration applied', { revision, resources: components.length + services.length });
    onChange();
  }

  #failed({ revision }: RobotConfig, caught: unknown): void {
    this.#error = `revision ${revision} could not be applied: ${errorText(caught)}`;
    this.#deps.onChange();
  }
}

const documents = new WeakMap<RobotConfig, MachineConfig>();

/** The document of a configuration, created once because several steps need it. */
async function documentOf(message: RobotConfig): Promise<MachineConfig> {
  const known = documents.get(message) ?? (await runInTurns(convert(message)));
  documents.set(message, known);
  return known;
}

function* convert(message: RobotConfig): Steps<MachineConfig> {
  // Each is converted once.
  for (const [list, kind] of [
    [message.components, 'component'],
    [message.services, 'service'],
  ] as const)
    for (const each of list) {
      knownResource(each, kind);
      yield;
    }
  return fromRobotConfig(message);
}

/** Entries whose status reports their faults. */
const hasOwnStatus = /^(components|services|modules|packages|remotes)\[/;

/** Faults by entry, such as `components[2]`; by path in sections without entries. */
function faultsOf(problems: readonly Problem[]): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const { path, message } of problems) {
    const entry = /^(\w+\[\d+\])/.exec(path)?.[1] ?? path;
    const before = faults.get(entry);
    faults.set(entry, `${before === undefined ? '' : `${before}; `}${path}: ${message}`);
  }
  return faults;
}

/** Adds the fault of an entry as its status, which keeps it from running. */
function withFault(key: string, faults: ReadonlyMap<string, string>): (entry: JsonObject, index: number) => JsonObject {
  return (entry, index) => {
    const error = faults.get(`${key}[${index}]`);
    return error === undefined ? entry : { ...entry, status: { error } };
  };
}
