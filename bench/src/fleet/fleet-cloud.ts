import { join } from 'node:path';
import { thriftyEnvironment } from '../../../apps/cli/bin/become-node.js';
import { cloudFlags } from '../../../apps/cli/src/up/cloud-flags.ts';
import { program } from '../../../tools/bundles/program.ts';
import { scratch } from '../cloud/scratch.ts';
import { type ServerProcess, startProcess } from '../cloud/server-process.ts';

export interface RunningCloud {
  readonly url: string;
  /** Signs in the first owner, once. */
  readonly signInLink: string;
  readonly process: ServerProcess;
}

/** What a first start registers, and the owner's key. */
interface Registered {
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly partId: string;
  readonly keyId: string;
  readonly key: string;
}

/** A cloud that is restarted repeatedly on the same data. */
export interface FleetCloud extends Registered, AsyncDisposable {
  readonly dataDirectory: string;
  /** The current process. */
  readonly running: RunningCloud;
  /** Kills it without a chance to write anything; resolves when it is gone. */
  kill(): Promise<void>;
  /** Restarts it on another port. */
  restart(): Promise<RunningCloud>;
}

export interface FleetCloudOptions {
  /** Added to the cloud's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of another checkout of this repository, whose cloud is started instead. Default: this one's. */
  readonly repository?: string;
}

export async function startFleetCloud({ env = {}, repository }: FleetCloudOptions = {}): Promise<FleetCloud> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(scratch());
  const dataDirectory = join(folder, 'cloud');
  const entry = repository === undefined ? program('cloud') : join(repository, 'apps/cloud/src/main.ts');
  const args = [...process.execArgv, entry, '--data', dataDirectory, '--port', '0', '--host', '127.0.0.1', '--json'];
  // The compile cache is that of this checkout, as for `npm start`: a new one would be written, for a second, while we measure.
  const start = async (): Promise<{ running: RunningCloud; registered: Registered }> => {
    // As `platform up` starts it, because its memory is measured.
    const started = startProcess(process.execPath, [...cloudFlags, ...args], {
      PLATFORM_LOG_LEVEL: 'warn',
      ...thriftyEnvironment,
      ...env,
    });
    const ready = (await started.event('ready')) as unknown as Omit<RunningCloud, 'process'> & Registered;
    const { url, signInLink, ...registered } = ready;
    return { running: { url, signInLink, process: started }, registered };
  };
  let { running, registered } = await start();
  stack.defer(async () => running.process[Symbol.asyncDispose]());
  const kept = stack.move();
  return {
    ...registered,
    dataDirectory,
    get running() {
      return running;
    },
    async kill() {
      process.kill(running.process.pid, 'SIGKILL');
      await running.process[Symbol.asyncDispose]();
    },
    async restart() {
      ({ running } = await start());
      return running;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
