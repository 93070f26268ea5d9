/**
 * Which process holds a socket: one of a module's family (the process that was started, its process group and session, and their
 * descendants), or another one. Linux only.
 */
import { readdir, readlink } from 'node:fs/promises';
import { type ProcessFacts, type ProcessStart, readProcess } from './read-process.ts';

/** @param inode of the socket. @returns whether a process of the family of `leader` holds it now */
export async function familyHolds(inode: string, leader: ProcessStart): Promise<boolean> {
  const link = `socket:[${inode}]`;
  // Most modules call from the process that was started, so the others need not be listed.
  if ((await holds(leader.pid, link)) && (await isSame(leader))) return true;
  const all = await everyProcess();
  if (all.get(leader.pid)?.started !== leader.started) return false;
  for (const { pid } of all.values()) {
    const line = lineage(pid, leader.pid, all);
    if (line === undefined || !(await holds(pid, link))) continue;
    // None of them is another process by now that has the number of one that ended.
    const same = await Promise.all([...line, leader].map(isSame));
    if (same.every(Boolean)) return true;
  }
  return false;
}

/** @throws if this account may not see it */
export async function holds(pid: number | 'self', link: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // A process may end, or close a file, meanwhile.
  for (const name of await readdir(folder).catch(() => []))
    if ((await readlink(`${folder}/${name}`).catch(() => '')) === link) return true;
  return false;
}

async function everyProcess(): Promise<ReadonlyMap<number, ProcessFacts>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = new Map<number, ProcessFacts>();
  for (const pid of pids) {
    const facts = await readProcess(pid);
    if (facts !== undefined) found.set(pid, facts);
  }
  return found;
}

/** The process and its ancestors, up to the one that belongs to the group or session of the leader; undefined if none does. */
function lineage(
  pid: number,
  leader: number,
  all: ReadonlyMap<number, ProcessFacts>,
): readonly ProcessFacts[] | undefined {
  const line: ProcessFacts[] = [];
  for (let at = all.get(pid); at !== undefined && !line.includes(at); at = all.get(at.parent)) {
    line.push(at);
    if (at.pid === leader || at.group === leader || at.session === leader) return line;
  }
  return undefined;
}

async function isSame({ pid, started }: ProcessStart): Promise<boolean> {
  return (await readProcess(pid))?.started === started;
}
