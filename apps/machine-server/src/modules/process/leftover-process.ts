/**
 * Finds the process of a module that a machine-server left behind when it was killed: it would hold the hardware that its successor needs.
 * A file beside the module's data directory names the process and the server that started it, each with its start time, so that a later
 * process with the same id is not ended. Linux only; elsewhere no such process is found.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type ProcessStart, readProcess } from './read-process.ts';

interface Recorded extends ProcessStart {
  readonly server: ProcessStart;
}

/** @param statePath the path of the file, without its extension */
export async function recordProcess(statePath: string, pid: number): Promise<void> {
  const [module, server] = await Promise.all([readProcess(pid), readProcess(process.pid)]);
  if (module === undefined || server === undefined) return;
  const recorded: Recorded = { pid, started: module.started, server: { pid: server.pid, started: server.started } };
  await writeFile(fileOf(statePath), JSON.stringify(recorded));
}

/** Kills the process group of the recorded process, if its server is gone and it is not. @returns whether there was one */
export async function endLeftover(statePath: string): Promise<boolean> {
  const recorded = await readRecorded(statePath);
  await rm(fileOf(statePath), { force: true });
  if (recorded === undefined) return false;
  const { pid, started, server } = recorded;
  const [owner, module] = await Promise.all([readProcess(server.pid), readProcess(pid)]);
  if (owner?.started === server.started || module?.started !== started) return false;
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
