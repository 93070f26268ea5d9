/** The real machine-server as a process with its own home, for the machine of a cloud. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { program } from '../../../tools/bundles/program.ts';

const main = program('machine-server');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

export interface MachineProcess extends AsyncDisposable {
  readonly home: string;
  readonly pid: number;
  /** Its log so far. */
  logged(): string;
  kill(signal?: NodeJS.Signals): Promise<unknown>;
}

/** @param url the address at which it reaches its cloud @param ca PEM of the cloud's own authority */
export async function startMachine(
  { partId: id, partSecret: secret }: { readonly partId: string; readonly partSecret: string },
  url: string,
  ca?: string,
): Promise<MachineProcess> {
  const home = await temporaryDirectory('machine-');
  const credentials = join(home.path, 'credentials.json');
  writeFileSync(
    credentials,
    JSON.stringify({ cloud: { id, secret, app_address: url, refresh_interval: '200ms', ca } }),
  );
  const args = [...nodeFlags, main, '-config', credentials];
  const server = spawnChild(process.execPath, args, {
    env: { PLATFORM_HOME: home.path, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
  return {
    home: home.path,
    pid: server.pid,
    logged: () => server.lines.map((line) => JSON.stringify(line)).join('\n'),
    kill: (signal) => server.kill(signal),
    async [Symbol.asyncDispose]() {
      await server.kill('SIGTERM');
      await home[Symbol.asyncDispose]();
    },
  };
}
