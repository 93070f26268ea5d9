/** Modules: programs that provide further models, each in its own process. */
import { type LogFields, type LogLevel, notFound } from '@platform/base';
import { modulePrefix } from '@platform/machine-config/log-pattern';
import type { JsonObject } from '@platform/machine-config/schema';
import { logProblems } from '../logging/log-problems.ts';
import { type ModuleConfig, readModules } from './module-config.ts';
import type { ModulesDeps } from './modules-deps.ts';
import { type ModuleStatus, ModuleSupervisor, providerName } from './supervise-module.ts';

export type { ModuleStatus } from './supervise-module.ts';

/** Disposing ends all processes. */
export interface Modules extends AsyncDisposable {
  /**
   * Changes the running modules to those of a configuration: unchanged ones continue, changed ones are restarted. Does not wait for them.
   * The levels of the log are those of the configuration already.
   */
  apply(modules: readonly JsonObject[]): void;
  /** In the order of the configuration. */
  status(): readonly ModuleStatus[];
  /** Errors of the modules, one per line; empty if all run. */
  errors(): string;
  /** @param name its name, or the id of a registry module. @throws not_found */
  restart(name: string): void;
  /** Checks again whether the modules' requirements, such as packages, are available. */
  look(): void;
  /** Writes a line from a module to our log. */
  log(module: string, level: LogLevel, message: string, logger: string, fields: LogFields): void;
}

export function createModules(deps: ModulesDeps): Modules {
  const running = new Map<string, ModuleSupervisor>();
  /** The pending ends of replaced or removed supervisors, by name. */
  const ending = new Map<string, Promise<void>>();

  const end = (supervisor: ModuleSupervisor): void => {
    const { name } = supervisor.module;
    running.delete(name);
    const over = Promise.all([ending.get(name), supervisor[Symbol.asyncDispose]()]).then(() => {
      if (ending.get(name) === over) ending.delete(name);
    });
    ending.set(name, over);
  };
  const start = async (module: ModuleConfig): Promise<void> => {
    const supervisor = new ModuleSupervisor(module, deps);
    running.set(module.name, supervisor);
    deps.provide(providerName(module.name), { state: 'starting' });
    // The old process may hold resources that the new one needs.
    await ending.get(module.name);
    if (running.get(module.name) === supervisor) supervisor.start();
  };

  /** While the configured version cannot be fetched, its program is not known: that of the running version stays. */
  const withProgram = (module: ModuleConfig): ModuleConfig => {
    const inUse = deps.packageWith(module.executablePath);
    const now = running.get(module.name)?.module;
    if (now === undefined || inUse === undefined || inUse.warning === '') return module;
    const isSame = deps.packageWith(now.executablePath)?.folder === inUse.folder;
    return isSame ? { ...module, executablePath: now.executablePath } : module;
  };

  return {
    apply(entries) {
      const { modules, problems } = readModules(entries);
      void logProblems(deps.log, problems);
      const wanted = new Map(
        modules.map((module) => [module.name, refused(withLevel(withProgram(module), deps), deps)]),
      );
      for (const supervisor of [...running.values()]) {
        const { name } = supervisor.module;
        const next = wanted.get(name);
        if (next !== undefined && JSON.stringify(next) === JSON.stringify(supervisor.module)) {
          supervisor.setLevels();
          continue;
        }
        if (next !== undefined && next.logLevel !== supervisor.module.logLevel)
          deps.log.info(`module "${name}" is started again with the log level ${next.logLevel || 'info'}`);
        end(supervisor);
        if (next === undefined) deps.provide(providerName(name), undefined);
      }
      for (const module of wanted.values()) if (!running.has(module.name)) void start(module);
    },
    status: () => [...running.values()].map(({ status }) => status),
    errors: () =>
      [...running.values()]
        .filter(({ status }) => status.error !== '')
        .map(({ module, status }) => `module "${module.name}": ${status.error}`)
        .join('\n'),
    restart(name) {
      const found = [...running.values()].find(({ module }) => module.name === name || module.moduleId === name);
      if (found === undefined) {
        const known = [...running.keys()].join(', ') || 'none';
        const text = `expected a module of this machine (${known}), found ${JSON.stringify(name)}`;
        throw notFound(text);
      }
      found.restart();
    },
    look: () => {
      for (const supervisor of running.values()) supervisor.look();
    },
    log(module, level, message, logger, fields) {
      running.get(module)?.lines.write(level, message, logger, fields);
    },
    async [Symbol.asyncDispose]() {
      for (const supervisor of [...running.values()]) end(supervisor);
      await Promise.all(ending.values());
    },
  };
}

/** At debug it writes its own debug lines. Any other level is a matter of our log, for which it need not be started again. */
function withLevel(module: ModuleConfig, { levelOf }: ModulesDeps): ModuleConfig {
  return levelOf(`${modulePrefix}${module.name}`) === 'debug' ? { ...module, logLevel: 'debug' } : module;
}

/** With `-untrusted-env`, only modules from the registry are started. */
function refused(module: ModuleConfig, { untrusted }: ModulesDeps): ModuleConfig {
  if (!untrusted || !module.isLocal || module.error !== '') return module;
  return { ...module, error: '-untrusted-env does not allow local modules' };
}
