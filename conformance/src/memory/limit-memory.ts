/** Limits the memory of a process and all its descendants, on systems that allow it (control groups, Linux). */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, proportionalBytes } from '@platform/testkit';

export interface MemoryLimit extends AsyncDisposable {
  /** Words to prepend to a command, so that it runs within the limit. */
  readonly prefix: readonly string[];
  /** How often the kernel killed a process in the group for lack of memory. */
  kills(): number;
}

interface Version {
  readonly root: string;
  /** Matches the line of /proc/self/cgroup that names the group of this process. */
  readonly line: RegExp;
  readonly limitFile: string;
  /** Contains a line `oom_kill N`. */
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

/** '' if there are no control groups. */
function ownGroups(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'utf8');
  } catch {
    return '';
  }
}

/** Undefined if it is not permitted here. Dispose it only when no process runs in it any longer. */
export function limitMemory(bytes: number): MemoryLimit | undefined {
  for (const version of versions) {
    // A child of this process's group, whose own limits still apply.
    const own = version.line.exec(ownGroups())?.[1];
    if (own === undefined) continue;
    const directory = join(version.root, own, `platform-${process.pid}-${++made}`);
    try {
      mkdirSync(directory);
    } catch {
      continue;
    }
    try {
      // Never creates the file: if the group has none, its parent does not limit memory.
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

export interface MemoryWatch extends AsyncDisposable {
  readonly peakBytes: number;
  /** The composition of the peak: bytes by command. */
  readonly peakByCommand: Readonly<Record<string, number>>;
}

/** Measures each second how much memory a process and all its descendants use, counting shared pages once. */
export function watchMemory(pid: number, nameOf: (pid: number) => string): MemoryWatch {
  const over = new AbortController();
  let peakBytes = 0;
  let peakByCommand: Record<string, number> = {};
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const held = processTree(pid).map((member) => [nameOf(member), heldBytes(member)] as const);
      const sum = held.reduce((total, [, bytes]) => total + bytes, 0);
      if (sum > peakBytes) [peakBytes, peakByCommand] = [sum, Object.fromEntries(held)];
      await sleep(1_000, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const finished = watch();
  return {
    get peakBytes() {
      return peakBytes;
    },
    get peakByCommand() {
      return peakByCommand;
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await finished;
    },
  };
}

/** 0 for a process that has just ended. */
function heldBytes(pid: number): number {
  try {
    return proportionalBytes(pid);
  } catch {
    return 0;
  }
}
