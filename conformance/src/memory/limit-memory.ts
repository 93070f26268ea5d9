/** A bound on the memory of a process and all that it starts, where this system lets us set one (control groups, Linux). */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface MemoryLimit extends AsyncDisposable {
  /** Words to put before a command, so that it runs inside. */
  readonly prefix: readonly string[];
  /** How often the kernel ended a process inside for lack of memory. */
  kills(): number;
}

interface Version {
  readonly root: string;
  /** How the line of /proc/self/cgroup begins that names the group of this process. */
  readonly line: RegExp;
  readonly limitFile: string;
  /** Holds a line `oom_kill N`. */
  readonly eventsFile: string;
}

const versions: readonly Version[] = [
  { root: '/sys/fs/cgroup', line: /^0::(.*)$/m, limitFile: 'memory.max', eventsFile: 'memory.events' },
  {
    root: '/sys/fs/cgroup/memory',
    line: /^\d+:memory:(.*)$/m,
    limitFile: 'memory.limit_in_bytes',
    eventsFile: 'memory.oom_control',
  },
];

let made = 0;

/** '' where there are no control groups. */
function ownGroups(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'utf8');
  } catch {
    return '';
  }
}

/** undefined: not allowed here. Disposed once nothing runs inside any more. */
export function limitMemory(bytes: number): MemoryLimit | undefined {
  for (const version of versions) {
    // Below the group of this process, whose own bounds stay.
    const own = version.line.exec(ownGroups())?.[1];
    if (own === undefined) continue;
    const directory = join(version.root, own, `platform-${process.pid}-${++made}`);
    try {
      mkdirSync(directory);
    } catch {
      continue;
    }
    try {
      // Creates nothing: where the group has no such file, its parent does not bound memory.
      writeFileSync(`${directory}/${version.limitFile}`, String(bytes), { flag: 'r+' });
    } catch {
      rmdirSync(directory);
      continue;
    }
    return {
      prefix: ['sh', '-c', `echo $$ > ${directory}/cgroup.procs && exec "$@"`, 'limited'],
      kills: () =>
        Number(/^oom_kill (\d+)/m.exec(readFileSync(`${directory}/${version.eventsFile}`, 'utf8'))?.[1] ?? 0),
      async [Symbol.asyncDispose]() {
        while (readFileSync(`${directory}/cgroup.procs`, 'utf8') !== '') await sleep(50);
        rmdirSync(directory);
      },
    };
  }
  return undefined;
}
