/** Finds the file of a child process or worker beside the calling module, in sources (.ts) and in what is published (.js). */
export function siblingEntry(moduleUrl: string, path: string): URL {
  return new URL(`${path}.${moduleUrl.endsWith('.ts') ? 'ts' : 'js'}`, moduleUrl);
}
