/** The address of the cloud that `platform up` runs on this computer: a file in the home directory that exists while it runs. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface RunningCloud {
  readonly url: string;
  /** PEM of the authority for its certificate; absent: the system trusts the certificate, or the cloud has no TLS. */
  readonly ca?: string | undefined;
  readonly dataDir: string;
}

const fileIn = (homeDir: string): string => join(homeDir, 'running-cloud.json');

/** If several run, the last one that started is recorded. Disposing removes the record unless another cloud has taken its place. */
export async function recordRunningCloud(homeDir: string, cloud: RunningCloud): Promise<AsyncDisposable> {
  const file = fileIn(homeDir);
  const text = `${JSON.stringify({ ...cloud, processId: process.pid }, null, 2)}\n`;
  await mkdir(homeDir, { recursive: true, mode: 0o700 });
  await writeFile(`${file}.${process.pid}`, text, { mode: 0o600 });
  await rename(`${file}.${process.pid}`, file);
  return {
    async [Symbol.asyncDispose]() {
      if ((await readFile(file, 'utf8').catch(() => '')) === text) await rm(file, { force: true });
    },
  };
}

/** @returns undefined if none runs, or the record cannot be read */
export async function readRunningCloud(homeDir: string): Promise<RunningCloud | undefined> {
  const value: unknown = await readFile(fileIn(homeDir), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  const { url, ca, dataDir, processId } = Object(value);
  if (typeof url !== 'string' || typeof dataDir !== 'string' || !isRunning(processId)) return undefined;
  return { url, dataDir, ...(typeof ca === 'string' && { ca }) };
}

function isRunning(processId: unknown): boolean {
  if (typeof processId !== 'number' || !Number.isSafeInteger(processId) || processId <= 0) return false;
  try {
    // Signal 0 only asks whether the process exists.
    return process.kill(processId, 0);
  } catch (caught) {
    return (caught as NodeJS.ErrnoException).code === 'EPERM';
  }
}
