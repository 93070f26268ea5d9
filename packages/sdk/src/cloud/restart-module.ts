import { timestampMs } from '@bufbuild/protobuf/wkt';
import { failedPrecondition, PlatformError, systemClock } from '@platform/base';
import { type ModuleStatus, ModuleStatus_State, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { type Client, connect } from '@platform/rpc/client';

export interface RestartModuleOptions {
  /** `host:port` of the machine-server. */
  readonly address: string;
  /** Name of the module in the configuration. */
  readonly module: string;
  /** An API key of the machine; absent: its port requires none. */
  readonly key?: { readonly keyId: string; readonly key: string } | undefined;
  readonly signal: AbortSignal;
}

const askEveryMs = 100;
const readyLimitMs = 60_000;

/**
 * Restarts the process of a machine's module. Resolves once it is ready.
 *
 * @throws failed_precondition with the reason if it does not start; deadline_exceeded if it is not ready within a minute
 */
export async function restartModule({ address, module, key, signal }: RestartModuleOptions): Promise<void> {
  await using link = connect({
    baseUrl: `http://${address}`,
    ...(key && { credentials: { entity: key.keyId, type: 'api-key', payload: key.key } }),
    signal,
  });
  const robot = link.client(RobotService);
  const before = changedMs(await statusOf(robot, module));
  await robot.restartModule({ idOrName: { case: 'moduleName', value: module } });
  const startMs = systemClock.monotonic();
  for (;;) {
    const status = await statusOf(robot, module);
    // The state is still READY while the old process ends.
    const isNew = changedMs(status) > before;
    if (isNew && status?.state === ModuleStatus_State.READY) return;
    if (isNew && status?.state === ModuleStatus_State.UNHEALTHY)
      throw failedPrecondition(`module "${module}" was restarted, but does not run: ${status.error}`);
    if (systemClock.monotonic() - startMs >= readyLimitMs)
      throw new PlatformError(
        'deadline_exceeded',
        `module "${module}" was restarted, but is not ready after ${readyLimitMs / 1_000} s${status?.error ? `: ${status.error}` : ''}`,
      );
    await systemClock.sleep(askEveryMs, signal);
  }
}

async function statusOf(robot: Client<typeof RobotService>, module: string): Promise<ModuleStatus | undefined> {
  const { modules } = await robot.getMachineStatus({});
  return modules.find(({ moduleName }) => moduleName === module);
}

function changedMs(status: ModuleStatus | undefined): number {
  return status?.lastUpdated === undefined ? 0 : timestampMs(status.lastUpdated);
}
