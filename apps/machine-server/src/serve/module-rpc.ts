/** The parts of RobotService about modules, and calls from modules. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import {
  ModuleStatus_State,
  type ModuleStatusSchema,
  PackageStatus_State,
  type PackageStatusSchema,
  type RobotService,
} from '@platform/proto/platform/robot/v1/robot';
import type { Handlers } from '@platform/rpc/server';
import type { Modules } from '../modules/feature.ts';
import { tcpModeWarning } from '../modules/module-config.ts';
import { levelOf, loggerOf } from '../modules/module-line.ts';
import type { ModuleState } from '../modules/supervise-module.ts';
import type { PackageState, Packages } from '../packages/feature.ts';
import { packageTypes } from '../packages/fetch-package.ts';
import type { Principal } from './authenticate.ts';
import { lineFields } from './line-fields.ts';

const states: Readonly<Record<ModuleState, ModuleStatus_State>> = {
  pending: ModuleStatus_State.PENDING,
  starting: ModuleStatus_State.STARTING,
  ready: ModuleStatus_State.READY,
  unhealthy: ModuleStatus_State.UNHEALTHY,
  closing: ModuleStatus_State.CLOSING,
};

export type ModuleHandlers = Required<
  Pick<Handlers<typeof RobotService, Principal>, 'getModelsFromModules' | 'log' | 'restartModule'>
>;

export function moduleHandlers(modules: Modules): ModuleHandlers {
  return {
    getModelsFromModules: () => ({
      models: modules
        .status()
        .flatMap(({ module, models }) =>
          models.map((each) => ({ ...each, moduleName: module.name, fromLocalModule: module.isLocal })),
        ),
    }),
    log({ logs }, { principal }) {
      const { module } = principal;
      // Only modules send logs here, not clients of the machine.
      if (module === undefined) return {};
      for (const { level, loggerName, message, stack, fields } of logs)
        modules.log(module, levelOf(level), message, loggerOf(loggerName, module), lineFields(fields, stack, 4_000));
    },
    restartModule({ idOrName }) {
      modules.restart(idOrName.value ?? '');
    },
  };
}

/** The part of GetMachineStatus about modules. */
export function moduleStatuses(
  modules: Modules,
  packages: Pick<Packages, 'with'>,
): MessageInitShape<typeof ModuleStatusSchema>[] {
  return modules.status().map(({ module, state, since, error, version, failures }) => ({
    moduleName: module.name,
    state: states[state],
    lastUpdated: timestampFromMs(since),
    error,
    consecutiveFailures: failures,
    version,
    warning: [packages.with(module.executablePath)?.warning ?? '', module.tcpMode ? tcpModeWarning : '']
      .filter((text) => text !== '')
      .join('; '),
  }));
}

const packageStates: Readonly<Record<PackageState, PackageStatus_State>> = {
  downloading: PackageStatus_State.DOWNLOADING,
  loading: PackageStatus_State.LOADING,
  ready: PackageStatus_State.READY,
  failed: PackageStatus_State.FAILED,
};

/** The part of GetMachineStatus about packages. */
export function packageStatuses(packages: Pick<Packages, 'status'>): MessageInitShape<typeof PackageStatusSchema>[] {
  return packages.status().map(({ wanted, state, since, error }) => ({
    ...{ name: wanted.name, type: packageTypes[wanted.type] ?? PackageType.UNSPECIFIED, version: wanted.version },
    ...{ state: packageStates[state], error, lastUpdated: timestampFromMs(since) },
  }));
}
