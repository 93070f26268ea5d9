/**
 * Finds the process of a module that a machine-server left behind when it was killed: it would hold the hardware that its successor needs.
 * A file beside the module's data directory names the process and the server that started it, each with its start time, so that a later
 * process with the same id is not ended. Linux only; elsewhere no such process is found.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';

interface Recorded {
  readonly pid: number;
  readonly started: string;
  readonly server: { readonly pid: number; readonly started: string };
}

/** @param statePath the path of the file, without its extension */
export async function recordProcess(statePath: string, pid: number): Promise<void> {
  const [started, serverStarted] = await Promise.all([startOf(pid), startOf(process.pid)]);
  if (started === undefined || serverStarted === undefined) return;
  const recorded: Recorded = { pid, started, server: { pid: process.pid, started: serverStarted } };
  await writeFile(fileOf(statePath), JSON.stringify(recorded));
}

/** Kills the process group of the recorded process, if its server is gone and it is not. @returns whether there was one */
export async function endLeftover(statePath: string): Promise<boolean> {
  const recorded = await readRecorded(statePath);
  await rm(fileOf(statePath), { force: true });
  if (recorded === undefined) return false;
  const { pid, started, server } = recorded;
  if ((await startOf(server.pid)) === server.started || (await startOf(pid)) !== started) return false;
  process.kill(-pid, 'SIGKILL');
  return true;
}

function fileOf(statePath: string): string {
  return `${statePath}.process.json`;
}

async function readRecorded(statePath: string): Promise<Recorded | undefined> {
  try {
    const { pid, started, server } = JSON.parse(await readFile(fileOf(statePath), 'utf8')) as Recorded;
    const isWhole = pid > 1 && typeof started === 'string' && typeof server.started === 'string';
    return isWhole ? { pid, started, server } : undefined;
  } catch {
    return undefined;
  }
}

/** When a process started, in ticks since the boot; undefined if it does not run. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in parentheses may contain anything; the following fields have no spaces.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? undefined : fields[18];
}
