/** Finds the file of a child process or worker beside the calling module, both in the sources (.ts) and in the published package (.js). */
export function siblingEntry(moduleUrl: string, path: string): URL {
  return new URL(`${path}.${moduleUrl.endsWith('.ts') ? 'ts' : 'js'}`, moduleUrl);
}
