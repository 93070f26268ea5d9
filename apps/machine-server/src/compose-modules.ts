/** Wires programs from outside: packages from the cloud, and modules, which may run from them. */
import type { Clock, Log, LogLevel } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { Graph } from './graph/graph.ts';
import { createModules, type Modules } from './modules/feature.ts';
import type { TypeTable } from './modules/type-table.ts';
import { createPackages, type Packages } from './packages/feature.ts';
import type { PackageSource } from './packages/fetch-package.ts';
import { identityOf } from './serve/identity.ts';
import type { Serving } from './serve/serve.ts';
import type { Settings } from './settings.ts';

export interface ModulePartsDeps {
  readonly settings: Settings;
  readonly types: TypeTable;
  /** The cloud; undefined if there is none. */
  readonly source: PackageSource | undefined;
  readonly partId: string;
  readonly graph: () => Graph;
  readonly serving: () => Serving;
  /** The newest configuration. */
  readonly config: () => RobotConfig;
  /** Applies the newest configuration again. */
  readonly applyAgain: () => void;
  /** Called after the state of a module or a package has changed. */
  readonly onChange: () => void;
  /** The least severe level that is logged of a logger. */
  readonly levelOf: (logger: string) => LogLevel;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ModuleParts extends AsyncDisposable {
  readonly packages: Packages;
  readonly modules: Modules;
}

export function composeModules(deps: ModulePartsDeps): ModuleParts {
  const { settings, types, source, partId, graph, serving, config, applyAgain, onChange, levelOf, clock, log } = deps;
  const packages = createPackages({
    ...{ home: settings.home, source, clock, log: log.child('packages') },
    onChange() {
      modules.look();
      graph().retry();
      onChange();
    },
    onNewVersion: applyAgain,
  });
  const modules: Modules = createModules({
    ...{ types, home: settings.home, environment: settings.environment, untrusted: settings.untrustedEnvironment },
    startupTimeoutMs: settings.moduleStartupTimeoutMs,
    configureTimeoutMs: settings.resourceConfigureTimeoutMs,
    provide: (module, provided) => graph().provide(module, provided),
    rebuild: (full) => graph().rebuild(full),
    openParent: (module, socketPath) => serving().openParent(module, socketPath),
    identity: () => identityOf(config(), partId),
    levelOf,
    missing: packages.missing,
    packageWith: packages.with,
    onChange,
    clock,
    log: log.child('modules'),
  });
  const unwinding = new AsyncDisposableStack();
  unwinding.use(packages);
  unwinding.use(modules);
  return { packages, modules, [Symbol.asyncDispose]: () => unwinding.disposeAsync() };
}
