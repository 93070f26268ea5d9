/**
 * Finds the file of a child process or thread of the calling module: beside it in the sources (.ts); published, every program and thread is
 * one file, and all are in one folder (.js).
 */
export function siblingEntry(moduleUrl: string, path: string): URL {
  const isSource = moduleUrl.endsWith('.ts');
  return new URL(isSource ? `${path}.ts` : `./${path.slice(path.lastIndexOf('/') + 1)}.js`, moduleUrl);
}
