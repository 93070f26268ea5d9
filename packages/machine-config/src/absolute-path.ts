/** Whether it names the same file for every process of one user: from the root, from `~`, or from a drive. */
export function isAbsolutePath(path: string): boolean {
  return /^[/~]|^[a-z]:/i.test(path);
}
