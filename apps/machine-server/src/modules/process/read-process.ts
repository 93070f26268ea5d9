/** What Linux says about a process. On other systems, no process is found. */
import { readFile } from 'node:fs/promises';

/** Identifies a process, also after its number was given to a later one. */
export interface ProcessStart {
  readonly pid: number;
  /** Ticks since the boot. */
  readonly started: string;
}

export interface ProcessFacts extends ProcessStart {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** @returns undefined if no such process runs */
export async function readProcess(pid: number): Promise<ProcessFacts | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in parentheses may contain anything; the following fields have no spaces.
  const [state = 'Z', parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const started = rest[15];
  if (state === 'Z' || started === undefined) return undefined;
  return { pid, started, parent: Number(parent), group: Number(group), session: Number(session) };
}
