/** Applies a configuration to the server (log levels, credentials of callers, resources) and knows which one is running. */
import { type Clock, errorText, type Log } from '@platform/base';
import { fromRobotConfig } from '@platform/machine-config/robot-config';
import type { MachineConfig } from '@platform/machine-config/schema';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { formatResourceName } from '@platform/resources';
import type { Graph } from '../graph/graph.ts';
import { logProblems } from '../logging/log-problems.ts';
import type { ServerLog } from '../logging/server-log.ts';
import type { Modules } from '../modules/feature.ts';
import type { Packages } from '../packages/feature.ts';
import { type MachineAuth, secretsOf } from '../serve/authenticate.ts';
import { type Observe, observed } from '../telemetry/observe.ts';
import { configuredSecrets } from './configured-secrets.ts';
import { logChanges } from './log-changes.ts';
import { unsupportedSettings } from './unsupported-settings.ts';

export interface ConfigApplierDeps {
  /** The configuration that the server starts with. */
  readonly first: RobotConfig;
  readonly graph: Graph;
  readonly modules: Pick<Modules, 'apply'>;
  readonly packages: Pick<Packages, 'apply'>;
  readonly auth: MachineAuth;
  readonly serverLog: ServerLog;
  /** `-debug`. */
  readonly debug: boolean;
  /** `-reveal-sensitive-config-diffs`. */
  readonly revealDiffs: boolean;
  /** Called after a configuration was applied or could not be applied. */
  readonly onChange: () => void;
  /** Looks at what is applied. */
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

export class ConfigApplier {
  readonly #deps: ConfigApplierDeps;
  #wanted: RobotConfig;
  #applied: Applied;
  #error = '';
  /** The revision whose unsupported settings were logged. */
  #warnedOf: string | undefined;

  constructor(deps: ConfigApplierDeps) {
    this.#deps = deps;
    this.#wanted = deps.first;
    this.#applied = { config: deps.first, revision: '', appliedMs: deps.clock.now() };
  }

  /** The newest configuration, whether it could be applied or not. */
  get wanted(): RobotConfig {
    return this.#wanted;
  }

  get applied(): Applied {
    return this.#applied;
  }

  /** Why the newest configuration could not be applied; empty if it could. */
  get error(): string {
    return this.#error;
  }

  /**
   * Throws if it cannot be applied.
   *
   * @returns `settled` resolves when every resource was built or failed once. A slow resource does not delay a later configuration.
   */
  apply(message: RobotConfig): { settled: Promise<void> } {
    const before = this.#wanted;
    this.#wanted = message;
    try {
      this.#hideSecrets(before, message);
      return {
        settled: this.#observed(before, message)
          .then(() => this.#succeeded(message))
          .catch((caught) => this.#failed(message, caught)),
      };
    } catch (caught) {
      this.#failed(message, caught);
      throw caught;
    }
  }

  #observed(before: RobotConfig, message: RobotConfig): Promise<void> {
    const begun = this.#begin(before, message);
    const { revision } = message;
    return observed(this.#deps.observe, 'configuration.apply', { revision }, () => begun);
  }

  /** Before anything is logged about either configuration. */
  #hideSecrets(...messages: readonly RobotConfig[]): void {
    const secrets = messages.flatMap((message) => [...configuredSecrets(message, fromRobotConfig(message))]);
    this.#deps.serverLog.redactor.hide('configuration', secrets);
  }

  #begin(before: RobotConfig, message: RobotConfig): Promise<void> {
    const { graph, modules, packages, auth, serverLog, log, revealDiffs: reveal } = this.#deps;
    const received = fromRobotConfig(message);
    const config = packages.apply(received);
    this.#setLog(config);
    const { revision } = message;
    if (before.revision !== revision)
      logChanges({ before: fromRobotConfig(before), after: received, revision, serverLog, log, reveal });
    auth.configure(secretsOf(message));
    if (this.#warnedOf !== message.revision) logProblems(this.#deps.log, unsupportedSettings(config));
    this.#warnedOf = message.revision;
    const applied = graph.apply([...config.components, ...config.services], message.revision);
    // Afterwards, but before a resource is built: those that go are not missed, those that come wait for their modules.
    modules.apply(config.modules);
    return applied;
  }

  #setLog(config: MachineConfig): void {
    const { serverLog, debug, log } = this.#deps;
    serverLog.deduplicate = !config.disable_log_deduplication;
    const own = [...config.components, ...config.services].flatMap((resource) =>
      resource.log_configuration === undefined
        ? []
        : [[formatResourceName(resource), resource.log_configuration.level] as const],
    );
    const modules = config.modules.flatMap(({ name, log_level: level }) =>
      typeof name === 'string' && typeof level === 'string' ? [[name, level] as const] : [],
    );
    const settings = {
      ...{ debug: debug || config.debug, patterns: config.log },
      ...{ resources: new Map(own), modules: new Map(modules) },
    };
    logProblems(log, serverLog.levels.set(settings));
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
