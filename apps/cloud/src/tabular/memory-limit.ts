/** How much memory the control groups of this process allow, as in a container or a systemd unit with MemoryMax. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Version {
  /** Where the groups are mounted. In a container, this is often the container's own group, although the kernel names its whole path. */
  readonly mount: string;
  /** The line of /proc/self/cgroup that names the group of this process. */
  readonly line: RegExp;
  readonly file: string;
}

const versions: readonly Version[] = [
  { mount: 'sys/fs/cgroup', line: /^0::(.*)$/m, file: 'memory.max' },
  { mount: 'sys/fs/cgroup/memory', line: /^\d+:(?:\w+,)*memory(?:,\w+)*:(.*)$/m, file: 'memory.limit_in_bytes' },
];

/** Version 1 writes "no limit" as the largest multiple of a page. */
const unlimited = 2 ** 60;

/**
 * The least limit of the process's group and of all above it; undefined: none.
 *
 * @param root of the file system; `/` except in tests
 */
export function memoryLimitBytes(root = '/'): number | undefined {
  const groups = textOf(join(root, 'proc/self/cgroup'));
  const limits = versions.flatMap(({ mount, line, file }) => {
    const group = line.exec(groups)?.[1];
    if (group === undefined) return [];
    return withParents(group).map((each) => Number(textOf(join(root, mount, each, file)).trim() || Number.NaN));
  });
  const least = Math.min(...limits.filter((bytes) => bytes > 0 && bytes < unlimited));
  return Number.isFinite(least) ? least : undefined;
}

function withParents(group: string): readonly string[] {
  return group === dirname(group) ? [group] : [group, ...withParents(dirname(group))];
}

/** '' if it cannot be read, as on other systems. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
